(ns jepsen.checker
  "Stands for the namespace of Jepsen, whose jar the tests do without: the protocol, and no more.")

(defprotocol Checker
  (check [checker test history opts]))
