# What R's packages say of the data sets in one CSV file, written to another.
#
# Rscript peers.R data.csv results.csv
#
# data.csv: set, label (0 or 1), score. results.csv: set, tool, quantity, value (NA: none), message;
# a line without a set is about a tool: its version, or why it was left out. Packages are used where
# they are installed; those that Debian does not have are sourced from the folder of their sources
# where an environment variable names it (PRECALL_PRROC, PRECALL_PRECREC, PRECALL_RAUCPR,
# PRECALL_PERFMEAS, PRECALL_MLEVAL, PRECALL_PRG).

arguments <- commandArgs(trailingOnly = TRUE)
data <- read.csv(arguments[1], colClasses = c("character", "integer", "character"))
data$score <- as.numeric(data$score)
sets <- split(data, factor(data$set, unique(data$set)))
lines <- list()

say <- function(set, tool, quantity, value = NA, message = "") {
  message <- gsub("[\",\n]", " ", message)
  line <- paste(set, tool, quantity, sprintf("%.17g", value), paste0('"', message, '"'), sep = ",")
  lines[[length(lines) + 1]] <<- line
}

run <- function(tool, version, functions) {
  say("", tool, "version", NA, version)
  for (name in names(sets)) {
    y <- sets[[name]]$label
    s <- sets[[name]]$score
    for (quantity in names(functions)) {
      found <- tryCatch(
        list(value = suppressMessages(suppressWarnings(functions[[quantity]](y, s)))),
        error = function(problem) list(value = NA, message = conditionMessage(problem))
      )
      say(name, tool, quantity, as.numeric(found$value)[1], paste0("", found$message))
    }
  }
}

installed <- function(package) requireNamespace(package, quietly = TRUE)
folder <- function(variable) {
  path <- Sys.getenv(variable)
  if (nzchar(path) && dir.exists(path)) path else NA
}
missing_tool <- function(tool, why) say("", tool, "missing", NA, why)
described <- function(path) {
  read.dcf(file.path(path, "DESCRIPTION"), fields = "Version")[1]
}
sourced <- function(...) {
  room <- new.env()
  # What a package attaches for its pictures and graphs is not needed for its areas.
  room$library <- function(...) invisible(NULL)
  sys.source(file.path(...), room)
  room
}

if (installed("pROC")) {
  roc <- function(y, s) pROC::roc(y, s, levels = c(0, 1), direction = "<")
  limit <- function(which) {
    function(y, s) as.numeric(pROC::ci.auc(roc(y, s), method = "delong"))[which]
  }
  run("pROC", as.character(packageVersion("pROC")), list(
    auroc = function(y, s) pROC::auc(roc(y, s)),
    auroc_variance = function(y, s) pROC::var(roc(y, s), method = "delong"),
    auroc_low = limit(1),
    auroc_high = limit(3),
    partial_auroc = function(y, s) pROC::auc(roc(y, s), partial.auc = c(1, 0.8))
  ))
  shared <- new.env()
  data("aSAH", package = "pROC", envir = shared)
  patients <- shared$aSAH
  for (other in c("s100b", "ndka")) {
    test <- pROC::roc.test(
      pROC::roc(patients$outcome, as.numeric(patients$wfns), levels = c("Good", "Poor"), direction = "<"),
      pROC::roc(patients$outcome, patients[[other]], levels = c("Good", "Poor"), direction = "<"),
      method = "delong", paired = TRUE
    )
    say("aSAH", "pROC", paste0("wfns_", other, "_z"), test$statistic)
    say("aSAH", "pROC", paste0("wfns_", other, "_p"), test$p.value)
    say("aSAH", "pROC", paste0("wfns_", other, "_low"), test$conf.int[1])
    say("aSAH", "pROC", paste0("wfns_", other, "_high"), test$conf.int[2])
  }
  for (column in c("wfns", "s100b", "ndka")) {
    say("aSAH", "pROC", paste0("column_", column), NA, paste(
      sprintf("%.17g", as.numeric(patients[[column]])), collapse = " "
    ))
  }
  say("aSAH", "pROC", "column_outcome", NA, paste(as.integer(patients$outcome == "Poor"), collapse = " "))
} else {
  missing_tool("pROC", "install r-cran-proc")
}

if (installed("ROCR")) {
  seen <- function(measure) {
    function(y, s) {
      ROCR::performance(ROCR::prediction(s, y, label.ordering = c(0, 1)), measure)@y.values[[1]]
    }
  }
  run("ROCR", as.character(packageVersion("ROCR")), list(rocr = seen("aucpr"), auroc = seen("auc")))
} else {
  missing_tool("ROCR", "install r-cran-rocr")
}

path <- folder("PRECALL_PRROC")
if (!is.na(path) || installed("PRROC")) {
  room <- if (is.na(path)) asNamespace("PRROC") else sourced(path, "R", "PRROC.R")
  version <- if (is.na(path)) as.character(packageVersion("PRROC")) else described(path)
  curve <- function(y, s) {
    room$pr.curve(
      s[y == 1], s[y == 0],
      dg.compute = TRUE, max.compute = TRUE, min.compute = TRUE, rand.compute = TRUE
    )
  }
  run("PRROC", version, list(
    prroc_integral = function(y, s) curve(y, s)$auc.integral,
    prroc_davis_goadrich = function(y, s) curve(y, s)$auc.davis.goadrich,
    prroc_relative = function(y, s) {
      found <- curve(y, s)
      least <- found$min$auc.integral
      (found$auc.integral - least) / (found$max$auc.integral - least)
    },
    prroc_random = function(y, s) curve(y, s)$rand$auc.integral,
    auroc = function(y, s) room$roc.curve(s[y == 1], s[y == 0])$auc
  ))
} else {
  missing_tool("PRROC", "PRECALL_PRROC names no folder with its sources")
}

path <- folder("PRECALL_PRECREC")
if (installed("precrec")) {
  run("precrec", as.character(packageVersion("precrec")), list(precrec = function(y, s) {
    areas <- precrec::auc(precrec::evalmod(scores = s, labels = y))
    areas$aucs[areas$curvetypes == "PRC"]
  }))
} else if (!is.na(path) && installed("Rcpp")) {
  copy <- tempfile()
  dir.create(copy)
  file.copy(list.files(file.path(path, "src"), "^precrec", full.names = TRUE), copy)
  room <- new.env()
  Rcpp::sourceCpp(file.path(copy, "precrec_plx.cpp"), env = room)
  run("precrec", described(path), list(precrec = function(y, s) {
    n <- sum(y == 1)
    order <- order(s, decreasing = TRUE)
    counts <- room$create_confusion_matrices(y + 1L, rank(-s, ties.method = "min"), order)
    recall <- counts$tp / n
    precision <- counts$tp / (counts$tp + counts$fp)
    precision[1] <- precision[2]
    curve <- room$create_prc_curve(counts$tp, counts$fp, recall, precision, 1000)$curve
    room$calc_auc(curve$x, curve$y)$auc
  }))
} else {
  missing_tool("precrec", "PRECALL_PRECREC names no folder with its sources, or Rcpp is not there")
}

if (installed("yardstick")) {
  run("yardstick", as.character(packageVersion("yardstick")), list(
    yardstick_pr_auc = function(y, s) {
      yardstick::pr_auc_vec(factor(y, levels = c(1, 0)), s)
    }
  ))
} else {
  missing_tool("yardstick", "it is not installed (R_LIBS may name a library that has it)")
}

path <- folder("PRECALL_RAUCPR")
if (!is.na(path)) {
  room <- sourced(path, "precision_recall.r")
  area <- function(name, ...) function(y, s) room[[name]](s[y == 1], s[y == 0], ...)$area
  functions <- list(
    raucpr_lower_trapezoid = area("prcurve.lowertrap"),
    raucpr_upper_trapezoid = area("prcurve.uppertrap"),
    raucpr_average_precision = area("prcurve.ap"),
    raucpr_interpolated = area("prcurve.interpolate"),
    raucpr_interpolated_mean = area("prcurve.interpolate", aggregator = mean),
    raucpr_interpolated_median = area("prcurve.interpolate", aggregator = median)
  )
  run("raucpr", "of 2013", functions)
} else {
  missing_tool("raucpr", "PRECALL_RAUCPR names no folder with its sources")
}

path <- folder("PRECALL_PERFMEAS")
if (!is.na(path)) {
  copy <- tempfile()
  dir.create(copy)
  file.copy(list.files(file.path(path, "src"), "[.]c$", full.names = TRUE), copy)
  library <- file.path(copy, "PerfMeas.so")
  built <- system2(file.path(R.home("bin"), "R"),
    c("CMD", "SHLIB", "-o", library, list.files(copy, "[.]c$", full.names = TRUE)),
    stdout = FALSE, stderr = FALSE
  )
  if (built == 0) {
    dyn.load(library)
    room <- sourced(list.files(file.path(path, "R"), full.names = TRUE)[1])
    run("PerfMeas", described(path), list(perfmeas = function(y, s) {
      room$AUPRC(list(room$precision.at.all.recall.levels(s, y)))
    }))
  } else {
    missing_tool("PerfMeas", "its C code could not be compiled")
  }
} else {
  missing_tool("PerfMeas", "PRECALL_PERFMEAS names no folder with its sources")
}

path <- folder("PRECALL_MLEVAL")
if (!is.na(path)) {
  room <- sourced(path, "R", "evalm.R")
  run("MLeval", described(path), list(mleval = function(y, s) {
    frame <- data.frame(neg = -s, pos = s, obs = ifelse(y == 1, "pos", "neg"))
    points <- room$mlmetrics(frame, G1 = "neg", G2 = "pos")
    room$AUCc(points$SENS, points$PREC)
  }))
} else {
  missing_tool("MLeval", "PRECALL_MLEVAL names no folder with its sources")
}

path <- folder("PRECALL_PRG")
if (!is.na(path)) {
  room <- sourced(path, "R_package", "prg", "R", "prg.R")
  run("prg", described(file.path(path, "R_package", "prg")), list(
    auprg = function(y, s) room$calc_auprg(room$create_prg_curve(y, s))
  ))
} else {
  missing_tool("prg", "PRECALL_PRG names no folder with its sources")
}

writeLines(c("set,tool,quantity,value,message", unlist(lines)), arguments[2])
