import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { cacheEntry, ensureBinaries } from '../../../../tools/control-plane/binaries.ts';
import { type BuildOptions, buildError, buildPrograms } from '../../../../tools/control-plane/gobuild.ts';
import { PROGRAM_KEYS, PROGRAMS, type Program } from '../../../../tools/control-plane/programs.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

const ALL = PROGRAM_KEYS.map((key) => PROGRAMS[key].file);
const env = { PATH: '/usr/bin:/bin' };
let cacheDir = '';
let entry = '';

beforeEach(() => {
  cacheDir = tempDir();
  entry = cacheEntry(cacheDir);
});

async function program(dir: string, { file, version }: Pick<Program, 'file' | 'version'>, status = 0): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, file), `#!/bin/sh\necho ${file} v${version}\nexit ${status}\n`);
  await chmod(join(dir, file), 0o755);
}

/** A stand-in for the compiler: makes programs that answer as the real ones do, and records them. */
function builder(
  make: (options: BuildOptions, wanted: Program) => Promise<void> = ({ dir }, wanted) => program(dir, wanted),
) {
  const built: string[] = [];
  const build = async (options: BuildOptions) => {
    for (const wanted of options.programs) {
      built.push(wanted.file);
      await make(options, wanted as Program);
    }
  };
  return { built, build };
}

describe('ensureBinaries', () => {
  test('builds all once, and nothing at the next start', async () => {
    const first = builder();
    const binaries = await ensureBinaries({ cacheDir, env, build: first.build });
    expect(first.built).toEqual(ALL);
    expect(binaries.kubeApiserver).toBe(join(entry, 'kube-apiserver'));
    const second = builder();
    expect(await ensureBinaries({ cacheDir, env, build: second.build })).toEqual(binaries);
    expect(second.built).toEqual([]);
  });

  test.each([
    ['does not run', () => program(entry, PROGRAMS.etcd, 1)],
    ['is of another release', () => program(entry, { file: 'etcd', version: '3.5.0' })],
    ['was cut short', () => writeFile(join(entry, 'etcd'), '\x7fELF', { mode: 0o755 })],
    ['is a directory', () => rm(join(entry, 'etcd')).then(() => mkdir(join(entry, 'etcd/x'), { recursive: true }))],
    ['is missing', () => rm(join(entry, 'etcd'))],
  ])('builds again the one program in the cache that %s', async (_, breakIt) => {
    await ensureBinaries({ cacheDir, env, build: builder().build });
    await breakIt();
    const { built, build } = builder();
    await ensureBinaries({ cacheDir, env, build });
    expect(built).toEqual(['etcd']);
  });

  test('asks a program once whether it runs, and again when its file is another', async () => {
    const counted = builder(async ({ dir }, { file, version }) => {
      await mkdir(dir, { recursive: true });
      const script = `#!/bin/sh\necho asked >> ${join(cacheDir, 'asked')}\necho ${version}\n`;
      await writeFile(join(dir, file), script, { mode: 0o755 });
    });
    const countAsked = async () => (await readFile(join(cacheDir, 'asked'), 'utf8')).trim().split('\n').length;
    const ask = () => ensureBinaries({ cacheDir, env, build: counted.build });
    await ask();
    expect(await countAsked()).toBe(ALL.length);
    await ask();
    expect(await countAsked()).toBe(ALL.length);
    await cp(join(entry, 'etcd'), join(entry, 'copy'));
    await rename(join(entry, 'copy'), join(entry, 'etcd'));
    await ask();
    expect([await countAsked(), counted.built]).toEqual([ALL.length + 1, ALL]);
  });

  test('uses ready-made programs as they are and builds missing ones', async () => {
    const kubebuilder = join(cacheDir, 'assets');
    for (const key of ['etcd', 'kubeApiserver', 'kubectl'] as const)
      await program(kubebuilder, { file: PROGRAMS[key].file, version: '1.31.0' });
    const { built, build } = builder();
    const binaries = await ensureBinaries({ cacheDir, env, build, assetsDir: kubebuilder });
    expect(built).toEqual(['kube-controller-manager', 'kube-scheduler']);
    expect(binaries).toMatchObject({ etcd: join(kubebuilder, 'etcd'), kubeScheduler: join(entry, 'kube-scheduler') });
  });

  test('reports the fault of the directory of ready-made programs instead of building around it', async () => {
    const assetsDir = join(cacheDir, 'assets');
    const ask = () => ensureBinaries({ cacheDir, env, assetsDir, build: builder().build });
    await expect(ask()).rejects.toThrow(
      /^KUBEBUILDER_ASSETS names .*assets, which has no etcd or no kube-apiserver\. Correct or unset it\.$/,
    );
    await program(assetsDir, PROGRAMS.etcd, 1);
    await expect(ask()).rejects.toThrow(/etcd of KUBEBUILDER_ASSETS does not run .*\. Replace it, or unset/);
  });

  test('reports a built program that does not run', async () => {
    const { build } = builder(({ dir }, wanted) => program(dir, wanted, wanted.file === 'kubectl' ? 1 : 0));
    await expect(ensureBinaries({ cacheDir, env, build })).rejects.toThrow(
      /^kubectl was built but does not run\. Remove/,
    );
  });

  test('leaves no lock after a failed build and keeps finished parts', async () => {
    const { build } = builder(async ({ dir }, wanted) => {
      if (wanted.file === 'kube-scheduler') throw new Error('no space');
      await program(dir, wanted);
    });
    await expect(ensureBinaries({ cacheDir, env, build })).rejects.toThrow('no space');
    expect(existsSync(`${entry}.lock`)).toBe(false);
    const second = builder();
    await ensureBinaries({ cacheDir, env, build: second.build });
    expect(second.built).toEqual(['kube-scheduler', 'kubectl']);
  });

  test('names the setting when the cache cannot be written', async () => {
    await writeFile(join(cacheDir, 'file'), '');
    const ask = ensureBinaries({ cacheDir: join(cacheDir, 'file'), env, build: builder().build });
    await expect(ask).rejects.toThrow(/cannot be written \(ENOTDIR\)\. Set XDG_CACHE_HOME/);
  });
});

describe('buildPrograms', () => {
  const COMPILES = '[ -z "$out" ] && exit';

  /** A `go` that compiles at once, and whose linking does what `script` says; `$out` is the file to make. */
  const fakeGo = async (script: string, { version = 'go1.26.6', compile = COMPILES } = {}) => {
    const bin = join(cacheDir, 'bin');
    await mkdir(bin);
    const lines = [
      '#!/bin/sh',
      `[ "$1" = version ] && echo "go version ${version} linux/amd64" && exit`,
      '[ "$1" = list ] && printf "go: downloading k8s.io/a v1.0.0\\nk8s.io/a\\nk8s.io/b\\n" && exit',
      'for a; do [ "$p" = -o ] && out=$a; p=$a; done',
      compile,
      script,
    ];
    await writeFile(join(bin, 'go'), lines.join('\n'), { mode: 0o755 });
    return {
      dir: entry,
      moduleDir: cacheDir,
      programs: [PROGRAMS.etcd, PROGRAMS.kubectl],
      env: { PATH: `${bin}:/usr/bin:/bin`, HOME: cacheDir },
    };
  };

  test('compiles the imports at once, links one by one, reports its progress, and leaves only the programs', async () => {
    const compile = `[ -z "$out" ] && echo "$@" > ${join(cacheDir, 'compiled')} && exit`;
    const options = await fakeGo('echo "$@" > "$out"', { compile });
    const steps: string[] = [];
    await buildPrograms({ ...options, onProgress: (step) => steps.push(step) });
    expect(steps).toEqual(['compiling Kubernetes', 'linking etcd (1 of 2)', 'linking kubectl (2 of 2)']);
    expect(await readdir(entry)).toEqual(['etcd', 'kubectl']);
    expect(await readFile(join(cacheDir, 'compiled'), 'utf8')).toMatch(/ -v k8s\.io\/a k8s\.io\/b\n$/);
    const [etcd, kubectl] = await Promise.all(['etcd', 'kubectl'].map((file) => readFile(join(entry, file), 'utf8')));
    expect([etcd, kubectl]).toEqual([
      expect.stringMatching(/-o \S+ go\.etcd\.io\/etcd\/server\/v3\n$/),
      expect.stringMatching(/-o \S+ k8s\.io\/kubernetes\/cmd\/kubectl\n$/),
    ]);
  });

  test('a compile error is one sentence, whatever was compiled beside it', async () => {
    const compile = 'printf "# k8s.io/a\\na.go:1:2: undefined: y\\nk8s.io/compiled/beside\\n"; exit 1';
    await expect(buildPrograms(await fakeGo('', { compile }))).rejects.toThrow(
      /^Kubernetes could not be built \(a\.go:1:2: undefined: y\)\. The whole output is in .*compile\.log\.$/,
    );
  });

  test('a build that fails half-way leaves no program under its name', async () => {
    const options = await fakeGo('echo half > "$out"; echo "main.go:1: broken"; exit 1');
    await expect(buildPrograms(options)).rejects.toThrow(
      /^etcd could not be built \(main.go:1: broken\)\. The whole output is in .*etcd\.log\.$/,
    );
    expect(existsSync(join(entry, 'etcd'))).toBe(false);
  });

  test('an abort ends the compiler', async () => {
    const started = join(cacheDir, 'started');
    const options = await fakeGo(`: > ${started}; exec sleep 1000`);
    const abort = new AbortController();
    const built = expect(buildPrograms({ ...options, signal: abort.signal })).rejects.toThrow('SIGTERM');
    await expect.poll(() => existsSync(started)).toBe(true);
    abort.abort(new Error('SIGTERM'));
    await built;
    expect(await readdir(join(entry, 'build', 'pids'))).toEqual([]);
  });

  test('names the package to install when there is neither Go nor Python', async () => {
    await mkdir(join(cacheDir, 'empty'));
    const options = await fakeGo('', { version: 'go1.20.1' });
    const noPython = { ...options, env: { PATH: join(cacheDir, 'bin'), HOME: cacheDir } };
    await expect(buildPrograms(noPython)).rejects.toThrow(
      /^Kubernetes must be built once, but Go is not installed\. Install Go 1\.21 or newer, or python3 with venv.*KUBEBUILDER/,
    );
    const other = await buildPrograms({ ...noPython, name: 'another server' }).catch(String);
    expect(other).toContain('another server must be built once');
    expect(other).not.toMatch(/kube/i);
  });
});

describe('buildError', () => {
  test.each([
    ['write /tmp/a.o: no space left on device', /^The disk became full during the build of etcd/],
    ['compile: signal: killed', /memory ran out/],
    [
      'Get "https://proxy.example/x": dial tcp: lookup proxy.example: no such host',
      /^The Go modules of etcd could not be downloaded\. Check the network/,
    ],
    ['x.go:1:2: undefined: y\n', /^etcd could not be built \(x.go:1:2: undefined: y\)/],
    ['', /\(no output\)/],
  ])('%j becomes one sentence', (log, sentence) => {
    expect(buildError('etcd', log, '/var/etcd.log').message).toMatch(sentence);
  });
});
