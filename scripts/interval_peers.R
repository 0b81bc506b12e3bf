# Intervals by precrec, of data sets in one CSV file, written to another.
#
# Rscript interval_peers.R data.csv results.csv
#
# data.csv: set, fold, label (0 or 1), score. results.csv: set, method, low, high.

library(precrec)
arguments <- commandArgs(trailingOnly = TRUE)
data <- read.csv(arguments[1])
lines <- list()
say <- function(set, method, found) {
  row <- found[found$curvetypes == "PRC", ]
  lines[[length(lines) + 1]] <<- data.frame(
    set = set, method = method, low = row$lower_bound, high = row$upper_bound
  )
}
for (set in unique(data$set)) {
  part <- data[data$set == set, ]
  folds <- split(part, part$fold)
  joined <- mmdata(lapply(folds, `[[`, "score"), lapply(folds, `[[`, "label"), dsids = seq_along(folds))
  curves <- evalmod(joined)
  say(set, "auc_ci", auc_ci(curves))
  say(set, "auc_ci(dtype=\"t\")", auc_ci(curves, dtype = "t"))
  if ("auc_boot" %in% getNamespaceExports("precrec")) {
    one <- mmdata(part$score, part$label)
    say(set, "auc_boot", auc_ci(precrec::auc_boot(one, boot_n = 500, seed = 1)))
  }
}
write.csv(do.call(rbind, lines), arguments[2], row.names = FALSE)
