// Everything Ouro offers.
#pragma once

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/generate.h"
#include "ouro/history.h"
#include "ouro/history_builder.h"
#include "ouro/level.h"
#include "ouro/lint.h"
#include "ouro/report.h"
#include "ouro/result.h"
#include "ouro/run.h"
#include "ouro/stats.h"
#include "ouro/version.h"
#include "ouro/workload.h"
