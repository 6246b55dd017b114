/**
 * Fetches the foreign definitions that the chart has objects for, as their projects publish them: the Gateway API's and the Prometheus
 * operator's. Their Go modules contain them.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { environment } from '../../../../src/core/settings/environment.ts';
import { withModules } from '../../../../tools/control-plane/gobuild.ts';
import { localEnvironment } from '../../../../tools/process/environment.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';

const MONITORING = 'example/prometheus-operator-crd/monitoring.coreos.com_';

const SOURCES = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.4.0',
    sum: 'h1:ZwlNM6zOHq0h3WUX2gfByPs2yAEsy/EenYJB78jpQfQ=',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: ['servicemonitors', 'podmonitors', 'prometheusrules'].map((plural) => `${MONITORING}${plural}.yaml`),
  },
];

/** Returns absolute paths of the YAML files, one definition each. */
export async function ensureDefinitions(
  env: ReturnType<typeof environment>,
  onProgress?: (step: string) => void,
): Promise<string[]> {
  const hash = createHash('sha256').update(JSON.stringify(SOURCES)).digest('hex').slice(0, 16);
  const dir = join(resolve(localEnvironment().cacheDir), `chart-definitions-${hash}`);
  const done = join(dir, 'crds');
  if (!existsSync(done)) {
    mkdirSync(dir, { recursive: true });
    await withFileLock(`${dir}.lock`, () =>
      existsSync(done) ? Promise.resolve() : fetchInto(dir, done, env, onProgress),
    );
  }
  return readdirSync(done).map((file) => join(done, file));
}

async function fetchInto(
  dir: string,
  done: string,
  env: ReturnType<typeof environment>,
  onProgress?: (step: string) => void,
): Promise<void> {
  const partial = join(dir, 'partial');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial);
  const modules = SOURCES.map(({ module }) => module);
  await withModules(modules, { dir, name: 'definitions for the tests of the chart', env, onProgress }, (fetched) => {
    for (const { module, sum, files } of SOURCES) {
      const found = fetched.find(({ Path }) => module.startsWith(`${Path}@`));
      if (found?.Sum !== sum) throw new Error(`${module} is not what it was: ${found?.Sum}`);
      for (const file of files) copyFileSync(join(found.Dir, file), join(partial, basename(file)));
    }
  });
  // The directory gets its name only when it is complete.
  renameSync(partial, done);
}
