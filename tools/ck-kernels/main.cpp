//===- main.cpp - ck-kernels: lists, lints and checks the kernels ---------===//
//
// The command line; what the commands do is in Commands.cpp.
//
//===----------------------------------------------------------------------===//
#include "Commands.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>

using namespace ck;
using namespace ck::check;

static const char usage[] = R"(usage: ck-kernels list  [--family F] [--json]
       ck-kernels lint  [--json]
       ck-kernels check (ID... | --all | --family F) [options]
       ck-kernels golden FILE.safetensors... [--isa I,...] [--threads N] [--json]
       ck-kernels ledger [--check] [--record FILE] [--out DIR]
       ck-kernels bench (ID... | --all | --family F) [--sizes T=512,K=768] [--isa I] [--threads N] [--json]
       ck-kernels tune  (ID... | --all | --family F) --out FILE [--sizes T=1:16:512] [--isa I] [--threads N]
       ck-kernels new ID --op OP --family F
       ck-kernels mutate [--family F] [--every N] [--jobs N] [--json]

list   prints each kernel: its operation, what it implements, instruction sets, tolerance
lint   looks for maps that contradict the registry, the operations or each other
check  tries kernels against the references of their operations; exit code 1 when one fails
golden runs the cases of golden files, forward and backward, and compares with the results in them; prints the error of
       each result and its bound; exit code 1 when one is over it
ledger writes what was proved of each kernel; with --check, exit code 1 when that is no longer true
bench  measures kernels, beside the machine's peaks
tune   measures kernels over a grid of sizes and writes a cost table for the selection of kernels
new    writes a map, a kernel and, for a new operation, a reference; all fail until they are filled in
mutate breaks the kernels in the ways that test/mutants lists, one at a time; exit code 1 when no check notices

  --all               every kernel; one that is not checked is then a failure
  --family F          the kernels whose maps are in the folder F
  --isa I,...         only these of scalar, avx2, avx512, avx512_vnni (default: all that this machine has)
  --threads N,...     thread counts, whose results must be equal (default 1,2,3,8)
  --seed S            of geometries and numbers (default 1)
  --geometries N      random geometries for each operation, besides the edge cases (default 32)
  --only-geometry I   repeats one geometry
  --fail-fast         stops at the first kernel that fails
  --unchecked ID      under --all, admits that ID is not checked
  --record FILE       check: adds the evidence to FILE; ledger: takes it from there
  --sizes NAME=N,...  extents of dims, and values of attributes; tune takes several, NAME=N:N:N
  --op OP             of a new kernel: the operation, without 'ck.'
  --every N           of the mutants every N-th
  --jobs N            mutants under way at once (default: the CPUs)
  --out PATH          where ledger (docs/ledger), tune and mutate (mutants, in the build) write
  --maps DIR          the kernel maps (default: $CK_KERNEL_MAPS, or those of this installation)
  --source DIR        the source tree (default: the one that this program was built from)
  --build DIR         the build tree, for mutate (default: the one of this program)
  --json              prints one JSON object
  --help, --version
)";

[[noreturn]] static void fail(const std::string &message) {
  std::fprintf(stderr, "ck-kernels: error: %s\n", message.c_str());
  std::exit(1);
}

/// A whole decimal number in [low, high].
static int64_t parseNumber(const char *option, const std::string &text, int64_t low, int64_t high) {
  char *end = nullptr;
  errno = 0;
  long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < low || value > high)
    fail(std::string("--") + option + " takes a number from " + std::to_string(low) + " to " + std::to_string(high) +
         ", not '" + text + "'");
  return value;
}

static std::vector<std::string> splitList(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

static std::vector<ck_isa> parseIsas(const std::string &text) {
  std::vector<ck_isa> isas;
  for (const std::string &name : splitList(text)) {
    int isa = ck_isa_parse(name.c_str());
    if (isa < 0)
      fail("--isa: there is no instruction set '" + name + "'");
    isas.push_back(static_cast<ck_isa>(isa));
  }
  return isas;
}

static std::vector<int> parseThreads(const std::string &text) {
  std::vector<int> threads;
  for (const std::string &count : splitList(text))
    threads.push_back(static_cast<int>(parseNumber("threads", count, 1, CK_MAX_THREADS)));
  return threads;
}

static Arguments parseArguments(int argc, char **argv) {
  static const option options[] = {{"all", no_argument, nullptr, 'a'},
                                   {"build", required_argument, nullptr, 'b'},
                                   {"check", no_argument, nullptr, 'c'},
                                   {"every", required_argument, nullptr, 'e'},
                                   {"fail-fast", no_argument, nullptr, 'q'},
                                   {"family", required_argument, nullptr, 'f'},
                                   {"geometries", required_argument, nullptr, 'g'},
                                   {"help", no_argument, nullptr, 'h'},
                                   {"isa", required_argument, nullptr, 'i'},
                                   {"jobs", required_argument, nullptr, 'J'},
                                   {"json", no_argument, nullptr, 'j'},
                                   {"maps", required_argument, nullptr, 'm'},
                                   {"only-geometry", required_argument, nullptr, 'o'},
                                   {"op", required_argument, nullptr, 'O'},
                                   {"out", required_argument, nullptr, 'w'},
                                   {"record", required_argument, nullptr, 'r'},
                                   {"seed", required_argument, nullptr, 's'},
                                   {"sizes", required_argument, nullptr, 'z'},
                                   {"source", required_argument, nullptr, 'S'},
                                   {"threads", required_argument, nullptr, 't'},
                                   {"unchecked", required_argument, nullptr, 'u'},
                                   {"version", no_argument, nullptr, 'v'},
                                   {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, ":", options, nullptr)) != -1;) {
    switch (c) {
    case 'a':
      arguments.all = true;
      break;
    case 'b':
      arguments.buildDir = optarg;
      break;
    case 'c':
      arguments.verify = true;
      break;
    case 'e':
      arguments.every = static_cast<int>(parseNumber("every", optarg, 1, 1000000));
      break;
    case 'f':
      arguments.family = optarg;
      break;
    case 'g':
      arguments.options.geometries = static_cast<int>(parseNumber("geometries", optarg, 0, 1000000));
      break;
    case 'i':
      arguments.options.isas = parseIsas(optarg);
      break;
    case 'J':
      arguments.jobs = static_cast<int>(parseNumber("jobs", optarg, 1, 1024));
      break;
    case 'j':
      arguments.json = true;
      break;
    case 'm':
      arguments.mapDir = optarg;
      break;
    case 'o':
      arguments.options.onlyGeometry = static_cast<int>(parseNumber("only-geometry", optarg, 0, 2000000));
      break;
    case 'O':
      arguments.op = optarg;
      break;
    case 'q':
      arguments.failFast = true;
      break;
    case 'r':
      arguments.record = optarg;
      break;
    case 's':
      arguments.options.seed = static_cast<uint64_t>(parseNumber("seed", optarg, 0, INT64_MAX));
      break;
    case 'S':
      arguments.sourceDir = optarg;
      break;
    case 't':
      arguments.options.threads = parseThreads(optarg);
      break;
    case 'u':
      arguments.unchecked.push_back(optarg);
      break;
    case 'w':
      arguments.out = optarg;
      break;
    case 'z':
      arguments.sizes = splitList(optarg);
      break;
    case 'h':
      std::fputs(usage, stdout);
      std::exit(0);
    case 'v':
      std::puts("ck-kernels " CK_VERSION);
      std::exit(0);
    case ':':
      fail(std::string(argv[optind - 1]) + " needs a value");
    default:
      fail(std::string("unknown option '") + argv[optind - 1] + "'; see ck-kernels --help");
    }
  }
  if (optind < argc)
    arguments.command = argv[optind++];
  arguments.ids.assign(argv + optind, argv + argc);
  return arguments;
}

static const struct {
  const char *name;
  Result<int> (*run)(const Arguments &);
} commands[] = {{"list", runList},     {"lint", runLint},     {"check", runCheck},
                {"golden", runGolden}, {"ledger", runLedger}, {"bench", runBench},
                {"tune", runTune},     {"new", runNew},       {"mutate", runMutate}};

int main(int argc, char **argv) {
  Arguments arguments = parseArguments(argc, argv);
  std::string names;
  for (const auto &command : commands)
    names += (names.empty() ? "" : ", ") + std::string(command.name);
  if (arguments.command.empty())
    fail("no command; expected one of " + names + " (see ck-kernels --help)");
  for (const auto &command : commands)
    if (arguments.command == command.name) {
      Result<int> code = command.run(arguments);
      if (!code)
        fail(code.error().message);
      if (std::fflush(stdout) != 0 || std::ferror(stdout))
        fail("the output cannot be written");
      return *code;
    }
  fail("unknown command '" + arguments.command + "'; expected one of " + names);
}
