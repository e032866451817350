(ns ouro.checker-test
  "Run by make test-jepsen with the program in the environment variable OURO."
  (:require [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.test :refer [deftest is run-tests testing]]
            [jepsen.checker :as jepsen]
            [ouro.checker :as ouro])
  (:import (java.nio.file Files)
           (java.nio.file.attribute FileAttribute)))

; What jepsen.history has for an operation: a record, which prints with a tag.
(defrecord Op [index time type process f value])

(defn op [index type process value] (->Op index (* 10 index) type process :txn value))

(def write-skew
  [(op 0 :invoke 0 [[:append :x 1] [:r :y nil]])
   (op 1 :invoke 1 [[:append :y 1] [:r :x nil]])
   (op 2 :info :nemesis nil)
   (assoc (op 3 :ok 0 [[:append :x 1] [:r :y []]]) :node "n1")
   (op 4 :ok 1 [[:append :y 1] [:r :x []]])])

(def fine (subvec write-skew 0 4))

(defn folder [] (.toFile (Files/createTempDirectory "ouro" (make-array FileAttribute 0))))

(defn check [opts history] (jepsen/check (ouro/checker opts) {:name "t"} history {}))

(deftest what-holds-is-valid
  (is (= {:valid? true} (check {} (remove #(= 1 (:process %)) write-skew))))
  (is (true? (:valid? (check {:consistency-models [:snapshot-isolation]} write-skew)))))

(deftest violations-are-elle-s-maps
  (let [result (check {:consistency-models [:serializable]} write-skew)
        [{:keys [cycle steps type]}] (get-in result [:anomalies :G2-item])]
    (is (false? (:valid? result)))
    (is (= [:G2-item] (:anomaly-types result)))
    (is (= #{:repeatable-read} (:not result)))
    (is (contains? (:also-not result) :serializable))
    (is (= :G2-item type))
    (is (= 3 (count cycle)))
    (testing "operations are those of the history, with all their keys"
      (is (= (set (map #(into {} %) (drop 3 write-skew))) (set cycle)))
      (is (= (first cycle) (last cycle))))
    (is (= #{{:type :rw, :key :y, :value :elle.list-append/init, :value' 1,
              :a-mop-index 1, :b-mop-index 0}
             {:type :rw, :key :x, :value :elle.list-append/init, :value' 1,
              :a-mop-index 1, :b-mop-index 0}}
           (set steps)))))

(deftest aborted-reads-name-their-writer
  (let [result (check {:level :read-committed}
                      [(op 0 :invoke 0 [[:append :x 1]])
                       (op 1 :fail 0 [[:append :x 1]])
                       (op 2 :invoke 1 [[:r :x nil]])
                       (op 3 :ok 1 [[:r :x [1]]])])
        [g1a] (get-in result [:anomalies :G1a])]
    (is (= [[:r :x [1]] 1 1 3]
           [(:mop g1a) (:element g1a) (:index (:writer g1a)) (:index (:op g1a))]))
    (is (= #{:read-committed} (:not result)))))

(deftest symbols-of-elle-are-read
  (let [result (check {:level :serializable}
                      [(op 0 :invoke 0 [[:append :x 1] [:r :x nil]])
                       (op 1 :ok 0 [[:append :x 1] [:r :x [2]]])
                       (op 2 :invoke 1 [[:append :x 2]])
                       (op 3 :ok 1 [[:append :x 2]])])]
    (is (= '[... 1] (get-in result [:anomalies :internal 0 :expected])))))

(deftest undecided-is-unknown
  (let [txn (fn [i] [(op (* 2 i) :invoke 0 [[:w :x i]]) (op (inc (* 2 i)) :ok 0 [[:w :x i]])])
        result (check {:arguments ["--memory-limit" "1"]} (mapcat txn (range 20)))]
    (is (= :unknown (:valid? result)))
    (is (string? (:ouro/undecided result)))))

(deftest what-is-wrong-is-thrown-with-the-message
  (let [thrown (is (thrown? clojure.lang.ExceptionInfo (check {:level :serialisable} fine)))]
    (is (str/includes? (ex-message thrown) "'serializable'"))
    (is (= {:type :ouro-failed, :exit 254} (ex-data thrown))))
  (is (thrown? java.io.IOException (check {:binary "/absent/ouro"} fine))))

(deftest options-become-flags
  (is (= ["ouro" "check" "--format" "edn" "--output" "edn" "--level" "si,serializable"
          "--anomalies" "G1,G2" "--model" "set" "--time-limit" "5" "--directory" "d"
          "--plot-format" "dot" "-q" "h"]
         (ouro/command {:binary "ouro", :consistency-models [:si "serializable"],
                        :anomalies [:G1 :G2], :model :set, :time-limit 5, :plot-format :dot,
                        :arguments ["-q"]}
                       "h" "d"))))

(deftest files-are-in-the-store-of-the-test
  (let [root (folder)
        test {:name "skew", :start-time "now", :store-root root}
        at (fn [& names] (.exists (apply io/file root "skew" names)))]
    (jepsen/check (ouro/checker {:plot-format :dot}) test write-skew {:subdirectory "independent"})
    (is (at "independent" "elle" "G2-item.txt"))
    (is (at "independent" "elle" "G2-item" "0.dot"))
    (jepsen/check (ouro/checker {:directory false}) test write-skew {})
    (is (not (at "elle")))
    (let [own (folder)]
      (ouro/check-history {:directory (str own), :plot-format :dot} write-skew)
      (is (.exists (io/file own "G2-item.txt"))))))

(defn -main []
  (let [{:keys [fail error]} (run-tests 'ouro.checker-test)]
    (shutdown-agents)
    (System/exit (if (zero? (+ fail error)) 0 1))))
