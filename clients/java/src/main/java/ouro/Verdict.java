package ouro;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What ouro says of a history.
 *
 * @param outcome holds, violated or undecided
 * @param level the level asked for; all, if several
 * @param levels of several levels the outcome of each
 * @param reason undecided: which limit was reached
 * @param strongest the strongest levels that hold
 * @param weakestViolated the weakest that are violated
 * @param anomalies violations, the worst first
 * @param json all that was said, as docs/json.md of ouro describes it
 */
public record Verdict(String outcome, String level, Map<String, String> levels, String reason, long transactions,
                      List<String> strongest, List<String> weakestViolated, List<Anomaly> anomalies,
                      Map<?, ?> json) {
    /** One violation as a small story. `id` is Adya's or Elle's name. */
    public record Anomaly(String name, String id, String level, String summary, List<String> story) {}

    public boolean holds() {
        return outcome.equals("holds");
    }

    public boolean violated() {
        return outcome.equals("violated");
    }

    static Verdict of(Map<?, ?> json) {
        Map<String, String> levels = new LinkedHashMap<>();
        if (json.get("levels") instanceof Map<?, ?> map) {
            map.forEach((level, outcome) -> levels.put(level.toString(), outcome.toString()));
        }
        List<Anomaly> anomalies = new ArrayList<>();
        for (Object one : list(json, "anomalies")) {
            Map<?, ?> story = (Map<?, ?>) one;
            anomalies.add(new Anomaly(text(story, "name"), text(story, "id"), text(story, "level"),
                    text(story, "summary"), texts(story, "story")));
        }
        return new Verdict(text(json, "verdict"), text(json, "level"), levels, text(json, "reason"),
                ((Number) json.get("transactions")).longValue(), texts(json, "strongest"),
                texts(json, "weakest_violated"), anomalies, json);
    }

    private static List<?> list(Map<?, ?> json, String name) {
        return json.get(name) instanceof List<?> found ? found : List.of();
    }

    private static List<String> texts(Map<?, ?> json, String name) {
        return list(json, name).stream().map(Object::toString).toList();
    }

    private static String text(Map<?, ?> json, String name) {
        return json.get(name) == null ? "" : json.get(name).toString();
    }

    /** A few lines, for the message of a test that fails. */
    @Override public String toString() {
        StringBuilder out = new StringBuilder(outcome + " " + level);
        out.append(reason.isEmpty() ? "" : " (" + reason + ")");
        for (Anomaly anomaly : anomalies) {
            out.append('\n').append(anomaly.name()).append(": ").append(anomaly.summary());
            anomaly.story().forEach(line -> out.append("\n  ").append(line));
        }
        return out.toString();
    }
}
