"""The figures and tables of four papers: what they measured, what they say, and our commands.

Each figure is a dictionary:

  id         its name on the command line
  paper      a key of PAPERS
  number     what the paper calls it
  title      what it is about
  sweeps     pairs of a label and the settings of 'ouro bench' that measure the same
  x          the setting that is the horizontal axis, and its label; None: the label is
  by         the setting that tells further series apart, if any
  what       what is shown: "cpu" (seconds), "peak" (MB), "stages", "search" or "verdict"
  log        which axes are logarithmic
  published  series, position on the x axis, value, and where the paper says so. A value may be a
             text. Only what stands in the text or a table of a paper is here: nothing is read off a
             picture.
  note       what is different from the paper
  program    instead of sweeps: a program of bench/ that measures (see run)

NOT_RUN has those that do not apply, and why.
"""

PAPERS = {
    "viper": ("Viper", "EuroSys 2023", "12-core AMD Ryzen 9 5900, 64 GB"),
    "polysi": ("PolySI", "VLDB 2023", "6-core Intel Xeon E5-2620, 48 GB"),
    "chronos": ("Chronos and Aion", "ICDE 2025", "16-core AMD EPYC 9754, 64 GB"),
    "emme": ("Emme, Enne and King Cobra", "PACMPL 2024",
             "King Cobra: EC2 p3.2xlarge, 8 cores, 64 GB, Tesla V100"),
}

BLIND = "workload=blindw-rw sessions=24 keys=2000 store=strong-si"
POLYSI = "store=session-si level=session-si keys=10000 key-choice=zipf"
GENERAL = POLYSI + " sessions=25 txns=10000 ops=8"
CHRONOS = ("store=session-si level=session-si evidence=timestamps timestamps=true "
           "key-choice=zipf")
KING = "txns=10000 sessions=20 keys=1000 store=strict-serializable version-orders=true"

VIPER_FIVE = [
    ("BlindW-RM", "workload=blindw-rm sessions=24 keys=2000 store=strong-si"),
    ("BlindW-RW", BLIND),
    ("Range-B", "workload=range-b sessions=24 store=strong-si"),
    ("C-TPCC", "workload=tpcc sessions=24 store=strong-si"),
    ("C-RUBiS", "workload=rubis sessions=24 store=strong-si"),
    ("C-Twitter", "workload=twitter sessions=24 store=strong-si"),
]
POLYSI_SIX = [
    ("TPC-C", "workload=tpcc txns=10000 sessions=25 store=strict-serializable"),
    ("GeneralRH", GENERAL.replace(" level=session-si", "") + " read-share=0.95"),
    ("RUBiS", "workload=rubis txns=10000 sessions=25 store=strict-serializable"),
    ("C-Twitter", "workload=twitter txns=10000 sessions=25 store=strict-serializable"),
    ("GeneralRW", GENERAL.replace(" level=session-si", "") + " read-share=0.5"),
    ("GeneralWH", GENERAL.replace(" level=session-si", "") + " read-share=0.3"),
]


def at(pairs, more):
    """The same settings, and some more."""
    return [(label, f"{settings} {more}") for label, settings in pairs]


FIGURES = [
    # ---- Viper ----
    {"id": "viper-8", "paper": "viper", "number": "Fig. 8",
     "title": "BlindW-RW, by the number of transactions",
     "sweeps": [("ouro si", BLIND + " txns=100,200,400,1000,2000,5000,10000 level=si")],
     "x": ("txns", "transactions"), "what": "cpu", "log": "xy",
     "published": [
         ("Viper", 10000, 439.7, "§7.1"),
         ("GSI+Z3", 100, 0.95, "Fig. 13"), ("GSI+Z3", 200, 10.30, "Fig. 13"),
         ("GSI+Z3", 400, 397.48, "Fig. 13"), ("ASI+Z3", 100, 317.56, "Fig. 13"),
         ("ASI+Z3", 200, 119.76, "Fig. 13"), ("ASI+Z3", 400, "timed out", "Fig. 13"),
         ("ASI+Mono+Opt", 400, "timed out", "§7.1")],
     "note": "The text has one number of Viper's curve; it is 2,900 times as fast as ASI+Mono at 400 "
             "transactions (§7.1)."},
    {"id": "viper-9", "paper": "viper", "number": "Fig. 9",
     "title": "Jepsen's list appends", "x": ("txns", "transactions"), "what": "cpu", "log": "xy",
     "sweeps": [("ouro si", "workload=list-append ops=4 keys=100 sessions=24 store=strong-si "
                            "txns=1000,10000,50000,100000 level=si")],
     "rival": "adya-lists",
     "published": [("Viper, Elle", 0, "both linear", "§7.1")],
     "note": "The paper's axis is for how long histories were recorded."},
    {"id": "viper-10", "paper": "viper", "number": "Fig. 10",
     "title": "Where the time goes, 5,000 transactions", "x": None, "what": "stages", "log": "",
     "sweeps": at(VIPER_FIVE, "txns=5000 level=si"),
     "published": [("Viper", "C-TPCC", "no time in the solver", "§7.2")]},
    {"id": "viper-11", "paper": "viper", "number": "Fig. 11",
     "title": "What each optimization is worth, 5,000 transactions", "x": None, "what": "cpu",
     "log": "y", "by": "search", "limit": 60,
     "sweeps": at(VIPER_FIVE, "txns=5000 level=si search=,no-guess+no-turns,no-chains,"
                              "no-guess+no-turns+no-chains,no-on-demand+no-full"),
     "published": [("ASI+Mono", "all five", "timed out (600 s)", "§7.2"),
                   ("ASI+Mono+Opt", "all five", "timed out (600 s)", "§7.2")],
     "note": "no-guess and no-turns stand for Viper without heuristic pruning, no-chains for Viper "
             "without the combination of writes. no-on-demand makes a choice of each pair of writers "
             "from the start, which Ouro never does otherwise."},
    {"id": "viper-12", "paper": "viper", "number": "Fig. 12",
     "title": "BlindW-RW, by the number of clients", "x": ("sessions", "clients"), "what": "cpu",
     "log": "y", "by": "txns",
     "sweeps": [("ouro si", "workload=blindw-rw keys=2000 store=strong-si "
                            "txns=2000,5000,8000 sessions=8,16,24,32,48,64 level=si")],
     "published": [("Viper", 24, "about the same for 2,000 and 5,000 transactions", "§7.2")]},
    {"id": "viper-13", "paper": "viper", "number": "Fig. 13",
     "title": "The Z3 baselines, BlindW-RW", "x": ("txns", "transactions"), "what": "cpu",
     "log": "xy", "rival": "z3",
     "sweeps": [(f"{n} txns", f"workload=blindw-rw sessions=8 keys={n // 2} txns={n} "
                              "store=strong-si level=session-si") for n in (50, 100, 200)],
     "join": "ouro session-si",
     "published": [("GSI+Z3", 100, 0.95, "Fig. 13"), ("GSI+Z3", 200, 10.30, "Fig. 13"),
                   ("GSI+Z3", 400, 397.48, "Fig. 13"), ("ASI+Z3", 100, 317.56, "Fig. 13"),
                   ("ASI+Z3", 200, 119.76, "Fig. 13"), ("ASI+Z3", 400, "timed out", "Fig. 13")],
     "note": "First of three trials each. The baselines run live are encodings of our own with Z3 "
             "(bench/baseline), 8 clients and half as many keys as transactions."},
    {"id": "viper-14", "paper": "viper", "number": "Fig. 14",
     "title": "Violations that databases showed", "x": None, "what": "cpu", "log": "y",
     "sweeps": [
         ("Lost updates, 23.2K", "workload=list-append ops=4 txns=23200 fault=lost-update=0.0005 "
                                 "level=si"),
         ("Aborted read, 2.2K", "workload=list-append ops=4 txns=2200 fault=aborted-read=0.005 "
                                "level=si"),
         ("G1c, 1.1K", "workload=list-append ops=4 txns=1100 "
                       "fault=circular-information-flow=0.01 level=si"),
         ("Read future writes, 4.6K", "workload=list-append ops=4 txns=4600 fault=future-read=0.002 "
                                      "level=si"),
         ("Read skew, 9.3K", "workload=list-append ops=4 txns=9300 fault=read-skew=0.001 level=si")],
     "expect": "violated",
     "published": [("Viper", "Lost updates, 23.2K", 9.75, "Fig. 14"),
                   ("Viper", "Aborted read, 2.2K", 0.97, "Fig. 14"),
                   ("Viper", "G1c, 1.1K", 0.52, "Fig. 14"),
                   ("Viper", "Read future writes, 4.6K", 2.21, "Fig. 14"),
                   ("Viper", "Read skew, 9.3K", 4.28, "Fig. 14")],
     "note": "Not the same histories: lists of the simulated store, as long, with the anomaly "
             "planted."},
    {"id": "viper-15", "paper": "viper", "number": "Fig. 15",
     "title": "One planted anomaly in BlindW-RW", "x": None, "what": "cpu", "log": "y",
     "bench_history": [("G1c, 2K", "g1c-2k"), ("long fork, 2K", "fork-2k"), ("G-SIb, 2K", "gsib-2k"),
                       ("G1c, 5K", "g1c-5k"), ("long fork, 5K", "fork-5k"),
                       ("G-SIb, 5K", "gsib-5k")],
     "settings": "level=si", "seeds": 5, "expect": "violated",
     "published": [("Viper", "G1c, 2K", 0.10, "Fig. 15"), ("Viper", "long fork, 2K", 0.12, "Fig. 15"),
                   ("Viper", "G-SIb, 2K", "3.61 to 52.91", "Fig. 15"),
                   ("Viper", "G1c, 5K", 0.26, "Fig. 15"), ("Viper", "long fork, 5K", 0.43, "Fig. 15"),
                   ("Viper", "G-SIb, 5K", "40.55 to > 1200", "Fig. 15"),
                   ("Elle", "G1c, 2K", 2.02, "Fig. 15"), ("Elle", "G1c, 5K", 2.26, "Fig. 15"),
                   ("Elle", "long fork, 2K", "2.02, accepts", "Fig. 15"),
                   ("Elle", "long fork, 5K", "2.42, accepts", "Fig. 15"),
                   ("Elle", "G-SIb, 2K", "1.87, accepts", "Fig. 15"),
                   ("Elle", "G-SIb, 5K", "2.42, accepts", "Fig. 15")],
     "note": "The worst of five seeds."},

    # ---- PolySI ----
    {"id": "polysi-5a", "paper": "polysi", "number": "Fig. 5(a), 6(a)", "title": "by sessions",
     "x": ("sessions", "sessions"), "what": "cpu", "log": "y",
     "sweeps": [(f"ouro, {n} sessions", f"{POLYSI} ops=15 sessions={n} txns={n * 100}")
                for n in (5, 10, 15, 20, 25, 30)], "join": "ouro session-si", "published": []},
    {"id": "polysi-5b", "paper": "polysi", "number": "Fig. 5(b), 6(b)",
     "title": "by transactions per session", "x": ("txns", "transactions (20 sessions)"),
     "what": "cpu", "log": "y",
     "sweeps": [("ouro session-si", POLYSI + " ops=15 sessions=20 txns=1000,2000,3000,4000,5000")],
     "published": []},
    {"id": "polysi-5c", "paper": "polysi", "number": "Fig. 5(c), 6(c)",
     "title": "by operations per transaction", "x": ("ops", "operations per transaction"),
     "what": "cpu", "log": "y",
     "sweeps": [("ouro session-si", POLYSI + " sessions=20 txns=2000 ops=5,10,15,20,25,30")],
     "published": []},
    {"id": "polysi-5d", "paper": "polysi", "number": "Fig. 5(d), 6(d)", "title": "by share of reads",
     "x": ("read-share", "share of reads"), "what": "cpu", "log": "y",
     "sweeps": [("ouro session-si",
                 POLYSI + " sessions=20 txns=2000 ops=15 read-share=0.1,0.3,0.5,0.7,0.9")],
     "published": []},
    {"id": "polysi-5e", "paper": "polysi", "number": "Fig. 5(e), 6(e)", "title": "by keys",
     "x": ("keys", "keys"), "what": "cpu", "log": "xy",
     "sweeps": [("ouro session-si", "store=session-si level=session-si key-choice=zipf sessions=20 "
                                    "txns=2000 ops=15 keys=1000,2000,4000,6000,8000,10000")],
     "published": []},
    {"id": "polysi-5f", "paper": "polysi", "number": "Fig. 5(f), 6(f)",
     "title": "by the distribution of keys", "x": ("key-choice", "distribution"), "what": "cpu",
     "log": "y",
     "sweeps": [("ouro session-si", "store=session-si level=session-si keys=10000 sessions=20 "
                                    "txns=2000 ops=15 key-choice=uniform,zipf,hotspot")],
     "published": [("dbcop", "zipf", "timed out (180 s)", "§5.4.1"),
                   ("dbcop", "hotspot", "timed out (180 s)", "§5.4.1"),
                   ("CobraSI without GPU", "zipf", "timed out (180 s)", "§5.4.1"),
                   ("CobraSI with GPU", "zipf", "6 times PolySI's", "§5.4.1")]},
    {"id": "polysi-7", "paper": "polysi", "number": "Fig. 7",
     "title": "six workloads of 10,000 transactions, with Cobra", "x": None, "what": "cpu",
     "log": "y", "by": "level", "sweeps": at(POLYSI_SIX, "level=session-si,session-serializable"),
     "published": [("PolySI", "GeneralRH", "a third of Cobra's", "§5.4.1"),
                   ("Cobra with GPU", "TPC-C", "less than PolySI's", "§5.4.1")],
     "note": "Memory is in the table. The general workloads are from a store that keeps session-si, "
             "so they violate serializability."},
    {"id": "polysi-8", "paper": "polysi", "number": "Fig. 8", "title": "Where the time goes",
     "x": None, "what": "stages", "log": "", "sweeps": at(POLYSI_SIX, "level=session-si"),
     "published": []},
    {"id": "polysi-9", "paper": "polysi", "number": "Fig. 9",
     "title": "What each optimization is worth", "x": None, "what": "cpu", "log": "y",
     "by": "search", "limit": 60,
     "sweeps": at(POLYSI_SIX, "level=session-si search=,no-chains,no-on-demand+no-full,"
                              "no-on-demand+no-full+no-chains+no-saturation"),
     "published": [("PolySI w/o P", "TPC-C", "out of memory (16 GB)", "Fig. 9"),
                   ("PolySI w/o C+P", "TPC-C", "out of memory (16 GB)", "Fig. 9")],
     "note": "PolySI's variants are without pruning (P) and without compacting (C)."},
    {"id": "polysi-t3", "paper": "polysi", "number": "Table 3",
     "title": "constraints before and after pruning; pairs of chains and choices", "x": None,
     "what": "search", "log": "", "sweeps": at(POLYSI_SIX, "level=session-si"),
     "published": [
         ("PolySI, constraints", "TPC-C", "386k, then 0", "Table 3"),
         ("PolySI, constraints", "GeneralRH", "4k, then 29", "Table 3"),
         ("PolySI, constraints", "RUBiS", "14k, then 149", "Table 3"),
         ("PolySI, constraints", "C-Twitter", "59k, then 277", "Table 3"),
         ("PolySI, constraints", "GeneralRW", "90k, then 2565", "Table 3"),
         ("PolySI, constraints", "GeneralWH", "167k, then 6962", "Table 3")],
     "note": "Ouro has no pruning. Pairs are what others call constraints, once writers that read "
             "what they overwrite are one chain; choices are the pairs that it had to decide."},
    {"id": "polysi-10", "paper": "polysi", "number": "Fig. 10", "title": "a million transactions",
     "x": ("read-share", "share of reads"), "what": "cpu", "log": "",
     "sweeps": [("ouro session-si, 15 operations",
                 "store=session-si level=session-si sessions=20 txns=1000000 ops=15 "
                 "keys=10000000 read-share=0.5,0.9")],
     "published": [("PolySI", "all", "at most 4 hours and 40 GB", "§5.4.4")],
     "note": "10 million keys instead of a billion, and the short transactions only: 450 million "
             "operations do not fit into the memory here."},

    # ---- Chronos and Aion ----
    {"id": "chronos-4", "paper": "chronos", "number": "Fig. 4",
     "title": "registers, with and without timestamps", "x": ("txns", "transactions"),
     "what": "cpu", "log": "xy", "by": "evidence",
     "sweeps": [("ouro session-si", "store=session-si level=session-si timestamps=true "
                                    "key-choice=zipf sessions=50 keys=1000 ops=15 "
                                    "evidence=timestamps,observed txns=500,1000,2000,5000,10000")],
     "published": [("PolySI, Viper", "all", "grow faster than linear", "§V-B")]},
    {"id": "chronos-5a", "paper": "chronos", "number": "Fig. 5(a)", "title": "registers",
     "x": ("txns", "transactions"), "what": "cpu", "log": "xy",
     "sweeps": [("ouro session-si", CHRONOS + " sessions=50 keys=1000 ops=15 "
                                              "txns=5000,20000,50000,100000")],
     "published": [("Chronos", 100000, 2, "§V-B: within 2 s"),
                   ("ElleKV", 100000, "10.5 times Chronos", "§V-B")]},
    {"id": "chronos-5b", "paper": "chronos", "number": "Fig. 5(b)", "title": "lists",
     "x": ("txns", "transactions"), "what": "cpu", "log": "xy", "rival": "adya-lists-si",
     "sweeps": [("ouro session-si", CHRONOS + " workload=list-append sessions=50 keys=1000 ops=15 "
                                              "txns=1000,2000,5000,10000")],
     "published": [("Chronos", 10000, 1, "§V-B: about 1 s"),
                   ("ElleList", 10000, "7.4 times Chronos", "§V-B")]},
    {"id": "chronos-6a", "paper": "chronos", "number": "Fig. 6(a), 7(a), 22",
     "title": "by transactions", "x": ("txns", "transactions"), "what": "cpu", "log": "xy",
     "sweeps": [("ouro session-si", CHRONOS + " sessions=50 keys=1000 ops=15 "
                                              "txns=5000,100000,200000,500000,1000000")],
     "published": [("Chronos, no GC", 1000000, 17, "§V-B: about 17 s"),
                   ("Chronos, memory", 1000000, "about 13 GB", "§V-B"),
                   ("PolySI", 1000000, "several hours", "§V-B")]},
    {"id": "chronos-6b", "paper": "chronos", "number": "Fig. 6(b), 7(b)",
     "title": "by operations per transaction", "x": ("ops", "operations per transaction"),
     "what": "cpu", "log": "xy",
     "sweeps": [("ouro session-si",
                 CHRONOS + " sessions=50 keys=1000 txns=100000 ops=5,15,30,50,100")],
     "published": [("Chronos", "all", "linear", "§V-B")]},
    {"id": "chronos-6c", "paper": "chronos", "number": "Fig. 6(c)", "title": "by keys",
     "x": ("keys", "keys"), "what": "cpu", "log": "x",
     "sweeps": [("ouro session-si",
                 CHRONOS + " sessions=50 txns=100000 ops=15 keys=200,500,1000,2000,5000")],
     "published": [("Chronos", "all", "stable", "§V-B")]},
    {"id": "chronos-6d", "paper": "chronos", "number": "Fig. 6(d)", "title": "by sessions",
     "x": ("sessions", "sessions"), "what": "cpu", "log": "x",
     "sweeps": [("ouro session-si",
                 CHRONOS + " txns=100000 ops=15 keys=1000 sessions=10,20,50,100,200")],
     "published": [("Chronos", "all", "stable", "§V-B")]},
    {"id": "chronos-8", "paper": "chronos", "number": "Fig. 8", "title": "Where the time goes",
     "x": None, "what": "stages", "log": "",
     "sweeps": [(f"{n // 1000}k txns",
                 CHRONOS + f" sessions=50 keys=1000 ops=15 txns={n}")
                for n in (100000, 200000, 500000, 1000000)],
     "published": [("Chronos", "all", "loading takes most, sorting next to nothing", "§V-C")],
     "note": "Loading is of .ouro files here, which are columns; Chronos reads JSON."},
    {"id": "chronos-24", "paper": "chronos", "number": "Fig. 24",
     "title": "applications, offline", "x": None, "what": "cpu", "log": "y",
     "sweeps": [(name, f"workload={workload} sessions=24 txns=100000 store=session-si "
                       "level=session-si evidence=timestamps timestamps=true")
                for name, workload in (("Twitter", "twitter"), ("RUBiS", "rubis"),
                                       ("TPC-C", "tpcc"))],
     "published": []},
    {"id": "aion-12", "paper": "chronos", "number": "Fig. 12, 23",
     "title": "transactions a second, online", "program": "throughput", "x": None, "what": "rate",
     "log": "y",
     "published": [("Aion-SER, no GC", "default", 18000, "§VI-B"),
                   ("Aion-SER, GC at a threshold", "default", 12000, "§VI-B"),
                   ("Aion-SER, memory full", "default", 3000, "§VI-B"),
                   ("Aion, memory full", "default", 1200, "§VI-B"),
                   ("Cobra", "default", 6000, "§VI-B: peak")]},
    {"id": "aion-13", "paper": "chronos", "number": "Fig. 13, 14, 17–21",
     "title": "how often judgements change, by the delays", "program": "flips",
     "x": ("delay", "deviation of delays, ms"), "what": "share", "log": "x",
     "published": [("Aion", 10, 29.8, "§VI-C: N(100, 10²)"),
                   ("Aion, settled within 10 ms", 10, "more than 95 %", "§VI-C")],
     "note": "Percent of transactions. More of it is in benchmarks.md (bench/figures)."},
    {"id": "aion-16", "paper": "chronos", "number": "Fig. 16", "title": "memory under a limit",
     "program": "steady", "x": ("seconds", "seconds"), "what": "peak", "log": "",
     "published": [("Aion, limit 700 MB", 310, "400 to 700 MB, 100K transactions in 310 s",
                    "§VI-D")],
     "note": "50,000 transactions a second, and a limit of 256 MB."},
    {"id": "aion-25", "paper": "chronos", "number": "Fig. 25",
     "title": "a history of SI, checked as serializable", "x": None, "what": "cpu", "log": "",
     "expect": "violated",
     "sweeps": [("500k txns", "store=session-si level=session-serializable evidence=timestamps "
                              "timestamps=true sessions=24 ops=8 keys=1000 txns=500000 "
                              "read-share=0.9 key-choice=zipf")],
     "published": [("Aion-SER", "500k txns", "finds 11,839 violations", "§VI-B")],
     "note": "Offline; all violations are counted."},

    # ---- Emme, Enne, King Cobra ----
    {"id": "emme-11", "paper": "emme", "number": "Fig. 9, 11",
     "title": "items, with version orders (Emme) and with timestamps (Enne)",
     "x": ("txns", "transactions"), "what": "cpu", "log": "xy", "by": "evidence",
     "sweeps": [("ouro serializable", "store=strict-serializable timestamps=true "
                                      "version-orders=true sessions=20 ops=5 keys=1000 "
                                      "rmw-share=0.4 evidence=versions,timestamps,observed "
                                      "level=serializable txns=10000,25000,50000,100000")],
     "published": [("Emme", 100000, 98.3, "§8.3"), ("Enne", 100000, 1.7, "§8.3"),
                   ("Elle", 100000, 184.2, "§8.3")]},
    {"id": "emme-10", "paper": "emme", "number": "Fig. 10, 12",
     "title": "items and predicates, 2,500 transactions", "program": "predicates", "x": None,
     "what": "cpu", "log": "y",
     "published": [("Emme", "2,500 txns", 76.2, "§8.3"), ("Enne", "2,500 txns", 0.6, "§8.3")]},
    {"id": "kingcobra-13", "paper": "emme", "number": "Fig. 13",
     "title": "session order and version order", "x": None, "what": "cpu", "log": "y",
     "by": "level", "versions": 90, "limit": 60,
     "sweeps": [
         (f"{name}, {said}", f"workload={workload} {KING} evidence={evidence} "
                             "level=serializable,session-serializable")
         for name, workload in (("RMW", "rmw"), ("read/write", "read-write"),
                                ("heavy write", "heavy-write"))
         for said, evidence in (("no VO", "observed"), ("VO", "versions"))],
     "published": [("King Cobra, VO w/o SO", "read/write, VO", "within 15", "§8.4"),
                   ("King Cobra, VO w/o SO", "heavy write, VO", "within 34", "§8.4"),
                   ("King Cobra, no SO, no VO", "read/write, no VO", "timed out (300 s)", "§8.4"),
                   ("King Cobra, no SO, no VO", "heavy write, no VO", "timed out (300 s)", "§8.4")],
     "note": "serializable is without session order, session-serializable with it; VO has 90 % of "
             "the versions."},
    {"id": "kingcobra-14", "paper": "emme", "number": "Fig. 14",
     "title": "by the share of versions that are known", "x": ("versions", "% of versions known"),
     "what": "cpu", "log": "y", "versions": (0, 25, 50, 75, 90, 100), "limit": 60,
     "sweeps": [(name, f"workload={workload} {KING} evidence=versions level=serializable")
                for name, workload in (("RMW", "rmw"), ("read/write", "read-write"),
                                       ("heavy write", "heavy-write"))],
     "published": [("King Cobra", 50, "read/write and heavy write time out below 90 %", "§8.4")]},

    # ---- Rivals that registries have ----
    {"id": "porcupine", "paper": None, "number": "Porcupine",
     "title": "one register: strict serializability is linearizability",
     "x": ("txns", "operations"), "what": "cpu", "log": "xy", "rival": "porcupine",
     "sweeps": [("ouro strict-serializable", "keys=1 ops=1 sessions=10 clocks=true "
                                             "level=strict-serializable "
                                             "txns=100,1000,10000,100000")],
     "published": []},
]

NOT_RUN = [
    ("Viper Fig. 8, ASI+Mono", "MonoSAT is in no registry; the paper's numbers stand beside ours"),
    ("Elle and elle-cli", "they are on Clojars, which is not among the registries used; adya, which "
                          "is Elle's approach in Rust, is measured instead"),
    ("dbcop", "crates.io has no crate of that name any more"),
    ("Chronos Fig. 9, 10", "they are about the garbage collector of the JVM; Ouro has none"),
    ("Chronos Fig. 11", "an example, not a measurement: tests/cases has it"),
    ("Aion Fig. 15", "needs a database that runs: ouro_bench --benchmark_filter=Recording "
                     "measures it (run.md, What recording costs)"),
    ("Emme Tables 1, 2", "they compare features"),
]
