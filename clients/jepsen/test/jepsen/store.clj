(ns jepsen.store
  "Stands for the namespace of Jepsen: where a test keeps its files."
  (:require [clojure.java.io :as io]))

(defn path! [test & names]
  (let [file (apply io/file (:store-root test) (:name test) (remove nil? names))]
    (io/make-parents file)
    file))
