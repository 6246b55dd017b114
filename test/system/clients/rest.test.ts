/**
 * Tests generated clients of the description: they compile, and create, start and read a stream on an API server; a refusal reaches them as
 * a problem. The cache keeps the generated clients of a description.
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeApi } from '../../../src/service/server/openapi/describe.ts';
import { standIn } from '../../kit/fake/standin.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { installNpm, installOnce, installPython, must } from './install.ts';

const OURS = join(import.meta.dirname, 'rest');
const TYPES = join(import.meta.dirname, '../../../node_modules/@types');
const over = new AbortController();
let started: StreamsApi;
let npm: string;
let python: string;
let description: string;

beforeAll(async () => {
  [npm, python] = await Promise.all([installNpm('rest', OURS), installPython('rest', OURS)]);
  description = JSON.stringify(await describeApi());
  started = await startStreamsApi();
  await standIn(started.api, over.signal);
}, 900_000);
afterAll(async () => {
  over.abort();
  await started?.api.stop();
});

const inPython = (program: string) => join(python, 'bin', program);
const inNpm = (path: string) => join(npm, 'node_modules', path);
/** Runs openapi-generator, into `out` below `dir`. */
const generate = (dir: string, generator: string, out: string, ...more: string[]) => {
  const none = 'apiDocs=false,modelDocs=false,apiTests=false,modelTests=false';
  const options = ['-i', 'openapi.json', '-g', generator, '-o', out, '--skip-validate-spec', '--global-property', none];
  return must(inPython('openapi-generator-cli'), ['generate', ...options, ...more], dir);
};

/** Checks the program against the generated types, and bundles it. */
async function compile(dir: string): Promise<void> {
  const options = ['--noEmit', '--strict', '--target', 'ES2022', '--module', 'ESNext', '--moduleResolution', 'bundler'];
  const libraries = ['--lib', 'ES2022,DOM,DOM.Iterable', '--typeRoots', TYPES, '--types', 'node', '--skipLibCheck'];
  await must(process.execPath, [inNpm('typescript/bin/tsc'), ...options, ...libraries, 'main.ts'], dir);
  const outfile = join(dir, 'main.mjs');
  await build({ entryPoints: [join(dir, 'main.ts')], outfile, bundle: true, platform: 'node', format: 'esm' });
}

interface Maker {
  program: string;
  file: string;
  make: (dir: string) => Promise<unknown>;
  run: (dir: string) => [command: string, ...args: string[]];
}
const inNode = (dir: string): [string, string] => [process.execPath, join(dir, 'main.mjs')];
const byPython = (dir: string): [string, string] => [inPython('python3'), join(dir, 'main.py')];

const MAKERS: Record<string, Maker> = {
  'openapi-typescript and openapi-fetch': {
    program: 'openapi_fetch.ts',
    file: 'main.ts',
    async make(dir) {
      await must(process.execPath, [inNpm('openapi-typescript/bin/cli.js'), 'openapi.json', '-o', 'schema.ts'], dir);
      await compile(dir);
    },
    run: inNode,
  },
  'hey-api': {
    program: 'hey_api.ts',
    file: 'main.ts',
    async make(dir) {
      await must(
        process.execPath,
        [inNpm('@hey-api/openapi-ts/bin/run.js'), '-i', 'openapi.json', '-o', 'client'],
        dir,
      );
      await compile(dir);
    },
    run: inNode,
  },
  'openapi-generator for TypeScript': {
    program: 'typescript_fetch.ts',
    file: 'main.ts',
    async make(dir) {
      await generate(dir, 'typescript-fetch', 'client');
      await compile(dir);
    },
    run: inNode,
  },
  'openapi-generator for Python': {
    program: 'python.py',
    file: 'main.py',
    make: (dir) => generate(dir, 'python', '.'),
    run: byPython,
  },
  'openapi-generator for Go': {
    program: 'main.go',
    file: 'main.go',
    async make(dir) {
      await generate(dir, 'go', 'loop', '--additional-properties', 'packageName=loop,withGoMod=false');
      for (const file of ['go.mod', 'go.sum']) cpSync(join(OURS, file), join(dir, file));
      await must('go', ['build', '-o', 'main', '.'], dir);
    },
    run: (dir) => [join(dir, 'main')],
  },
  'openapi-python-client': {
    program: 'openapi_python_client.py',
    file: 'main.py',
    async make(dir) {
      const said = await must(
        inPython('openapi-python-client'),
        ['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'loopstream_client'],
        dir,
      );
      // Bytes of media and of PDF are no JSON; everything else is included.
      expect(
        said.split('\n').filter((line) => /merged|Unable to process|parsing (?!.*(flv|pdf|resumable))/.test(line)),
      ).toEqual([]);
      await must(inPython('mypy'), ['--strict', '--follow-imports=silent', 'main.py'], dir);
    },
    run: byPython,
  },
};

test.each(Object.entries(MAKERS))(
  'a client made by %s',
  async (_name, { program, file, make, run }) => {
    const source = join(OURS, `${program}.txt`);
    const made = [description, readFileSync(source), readFileSync(join(OURS, 'package-lock.json'))];
    const dir = await installOnce(
      `made-${program.replace('.', '-')}`,
      [...made, readFileSync(join(OURS, 'requirements.txt'))],
      async (into) => {
        writeFileSync(join(into, 'openapi.json'), description);
        symlinkSync(join(npm, 'node_modules'), join(into, 'node_modules'));
        cpSync(source, join(into, file));
        await make(into);
      },
    );
    const { api, ada, destinationID, videoUploadObjectID } = started;
    const [command, ...args] = run(dir);
    const said = await must(command, [...args, api.url, ada.key, destinationID, videoUploadObjectID], dir);
    const { id, status, code } = JSON.parse(said) as Record<string, string>;
    expect({ status, code }).toEqual({ status: 'live', code: 'stream_not_found' });
    expect((await ada.call('GET', `/v1/streams/${id}`)).body).toMatchObject({ id, status: 'live' });
  },
  900_000,
);
