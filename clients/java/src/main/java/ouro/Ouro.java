package ouro;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Judges histories by the program ouro. */
public final class Ouro {
    private Ouro() {}

    /**
     * Judges a history, by the program that the system property or environment variable OURO names, else by the one
     * on the PATH. A violation is no error. Throws IOException if the history cannot be read or judged.
     *
     * @param level any that 'ouro check --level' takes
     * @param flags others of 'ouro check', such as "--time-limit", "60"
     */
    public static Verdict check(String path, String level, String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program(), "check", "--json", "--level", level));
        command.addAll(List.of(flags));
        command.addAll(List.of("--", path));
        Path complaints = Files.createTempFile("ouro", ".txt");
        try {
            Process process = new ProcessBuilder(command).redirectError(complaints.toFile()).start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            if (status < 0 || status > 2) {
                String complaint = Files.readString(complaints).strip();
                throw new IOException(complaint.isEmpty() ? command.get(0) + " ended with " + status : complaint);
            }
            return Verdict.of((Map<?, ?>) Json.parse(said));
        } catch (IllegalArgumentException | ClassCastException | NullPointerException error) {
            throw new IOException(command.get(0) + " did not answer as expected", error);
        } finally {
            Files.delete(complaints);
        }
    }

    private static String program() {
        String named = System.getProperty("OURO", System.getenv("OURO"));
        return named == null || named.isEmpty() ? "ouro" : named;
    }
}
