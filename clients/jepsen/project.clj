(defproject ouro/checker "0.1.0"
  :description "A checker for Jepsen that has the program ouro decide the isolation level"
  :source-paths ["src"]
  ; Jepsen and Clojure are those of the project that uses this.
  :profiles {:provided {:dependencies [[org.clojure/clojure "1.12.0"]
                                       [jepsen "0.3.8"]]}})
