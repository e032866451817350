(ns ouro.checker
  "A checker for Jepsen that has the program ouro decide which isolation level a history keeps.

  (ouro.checker/checker {:consistency-models [:serializable]}) is a jepsen.checker/Checker. It writes
  the history as EDN, calls 'ouro check', and returns what that printed: a map with :valid?,
  :anomaly-types, :anomalies, :not and :also-not, as Elle's checkers return it."
  (:require [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.string :as str]
            [jepsen.checker :as checker])
  (:import (java.io File)
           (java.util List)
           (java.util.concurrent TimeUnit)))

(defn- folder-for
  "Where a check leaves files: the option :directory if that is a path; if it is absent, the folder
  elle in the store of the test, where Elle's own checkers leave theirs. Nil for nowhere: the option is
  false, or the test has no store, as in unit tests."
  [opts test check-opts]
  (let [directory (:directory opts true)]
    (cond
      (not directory) nil
      (not (true? directory)) (io/file directory)
      (and (:name test) (:start-time test))
      ((requiring-resolve 'jepsen.store/path!) test (:subdirectory check-opts) "elle"))))

(defn write-history!
  "Writes a history to a file, an operation a line."
  [history file]
  (with-open [out (io/writer file)]
    (binding [*out* out, *print-length* nil, *print-level* nil, *print-namespace-maps* false]
      (doseq [op history]
        ; A record would print with its tag.
        (prn (into {} op))))))

(defn- levels [opts]
  (when-let [models (or (:consistency-models opts) (:level opts))]
    (str/join "," (map name (if (or (keyword? models) (string? models)) [models] models)))))

(defn command
  "The words by which ouro is called for a history in `file`."
  [opts file folder]
  (concat [(or (:binary opts) (System/getenv "OURO") "ouro")
           "check" "--format" "edn" "--output" "edn"
           "--level" (or (levels opts) "strict-serializable")]
          (when-let [anomalies (seq (:anomalies opts))]
            ["--anomalies" (str/join "," (map name anomalies))])
          (when-let [model (:model opts)] ["--model" (name model)])
          (when-let [seconds (:time-limit opts)] ["--time-limit" (str seconds)])
          (when folder ["--directory" (str folder)])
          (when-let [form (:plot-format opts)] ["--plot-format" (name form)])
          (map str (:arguments opts))
          [(str file)]))

(defn- run
  "Runs a command; a map of :exit, :out and :err. The streams are files, so that neither can fill."
  [words]
  (let [out (File/createTempFile "ouro" ".edn")
        err (File/createTempFile "ouro" ".txt")]
    (try
      (let [process (-> (ProcessBuilder. ^List (vec words))
                        (.redirectOutput out)
                        (.redirectError err)
                        (.start))]
        (try
          {:exit (.waitFor process), :out (slurp out), :err (str/trim (slurp err))}
          ; Interrupted, as Jepsen does with checkers that it no longer wants.
          (finally (when (.isAlive process)
                     (.destroy process)
                     (when-not (.waitFor process 1 TimeUnit/SECONDS) (.destroyForcibly process))))))
      (finally (.delete out) (.delete err)))))

(defn read-result
  "What ouro said: the map that it printed. Exit status 2 is undecided: :valid? :unknown. Any other
  status than 0, 1 and 2 is an error, with the message that ouro printed."
  [{:keys [exit out err]}]
  (when-not (contains? #{0 1 2} exit)
    (throw (ex-info (if (str/blank? err) (str "ouro ended with status " exit) err)
                    {:type :ouro-failed, :exit exit})))
  (let [result (edn/read-string {:default (fn [_tag value] value)} out)]
    (cond-> result
      (= 2 exit) (assoc :valid? :unknown))))

(defn check-history
  "Checks a sequence of operations with the options of checker; the map that a Checker returns."
  ([opts history] (check-history opts {} history {}))
  ([opts test history check-opts]
   (let [folder (folder-for opts test check-opts)
         file (File/createTempFile "history" ".edn")]
     (try
       (write-history! history file)
       (read-result (run (command opts file folder)))
       (finally (.delete file))))))

(defn checker
  "A Checker. Options, all of which may be absent:

    :consistency-models  what the history should keep: a keyword or a collection of keywords, Elle's
                         or ouro's names of levels; or :level, the same. [:strict-serializable]
    :anomalies           anomalies that count as violations even where the level allows them
    :model               what the operations mean, where ouro cannot find out: :bank, :set, :counter …
    :binary              the program [the environment variable OURO, or ouro on the PATH]
    :time-limit          seconds after which the result is :unknown [none]
    :directory           where files on each type of anomaly go: a path; false for nowhere
                         [the folder elle in the test's store]
    :plot-format         :svg, :png or :dot
    :arguments           more words for the command line: [\"--memory-limit\" \"8000\"]"
  ([] (checker {}))
  ([opts]
   (reify checker/Checker
     (check [_ test history check-opts]
       (check-history opts test history check-opts)))))
