/** Helm as people have it: the current release of 4, and of 3, which is still in wide use. */
import { join } from 'node:path';
import type { environment } from '../../../src/config.ts';
import { ensureGoProgram, type GoProgram } from '../go-program.ts';

const set = (variable: string, value: string) => `-X helm.sh/helm/${variable}=${value}`;

/** What Helm's own release builds set: without it Helm 3 believes that Kubernetes is at 1.20 when it asks no cluster. */
const HELMS = [
  {
    file: 'helm4',
    goPackage: 'helm.sh/helm/v4/cmd/helm',
    moduleDir: join(import.meta.dirname, 'v4'),
    name: 'Helm 4',
    linkerFlags: ['-s -w', set('v4/internal/version.version', 'v4.3.1')].join(' '),
  },
  {
    file: 'helm3',
    goPackage: 'helm.sh/helm/v3/cmd/helm',
    moduleDir: join(import.meta.dirname, 'v3'),
    name: 'Helm 3',
    linkerFlags: [
      '-s -w',
      set('v3/internal/version.version', 'v3.22.0'),
      ...['v3/pkg/lint/rules', 'v3/pkg/chartutil'].flatMap((pkg) => [
        set(`${pkg}.k8sVersionMajor`, '1'),
        set(`${pkg}.k8sVersionMinor`, '37'),
      ]),
    ].join(' '),
  },
] satisfies GoProgram[];

/** Absolute paths; builds what is missing, about a minute each. */
export async function ensureHelms(
  env: ReturnType<typeof environment>,
  onProgress?: (step: string) => void,
): Promise<{ name: string; path: string }[]> {
  const helms: { name: string; path: string }[] = [];
  for (const program of HELMS) {
    helms.push({ name: program.name, path: await ensureGoProgram(program, env, onProgress) });
  }
  return helms;
}
