/**
 * What the tests need and Debian does not bring: Helm as people have it (the current release of 4, and of 3, which is still in
 * wide use), an S3 server, the cluster's DNS and the process that holds a pod together.
 */
import { join } from 'node:path';
import { ensureGoModule } from './go-module.ts';

const set = (variable: string, value: string) => `-X helm.sh/helm/${variable}=${value}`;

/** What Helm's own release builds set: without it Helm 3 believes that Kubernetes is at 1.20 when it asks no cluster. */
const HELM_3 = [
  '-s -w',
  set('v3/internal/version.version', 'v3.22.0'),
  ...['v3/pkg/lint/rules', 'v3/pkg/chartutil'].flatMap((pkg) => [
    set(`${pkg}.k8sVersionMajor`, '1'),
    set(`${pkg}.k8sVersionMinor`, '37'),
  ]),
].join(' ');

/** One module, so that what the programs share, the Kubernetes client most of all, is compiled once. */
const PROGRAMS = {
  file: 'test-programs',
  name: 'the programs of the tests',
  moduleDir: join(import.meta.dirname, 'go'),
  sources: ['coredns/main.go', 'pause/main.go'],
  inlines: false,
  programs: {
    pause: { goPackage: './pause', linkerFlags: '-s -w' },
    coredns: { goPackage: './coredns', linkerFlags: '-s -w' },
    versitygw: { goPackage: 'github.com/versity/versitygw/cmd/versitygw' },
    helm3: { goPackage: 'helm.sh/helm/v3/cmd/helm', linkerFlags: HELM_3 },
    helm4: {
      goPackage: 'helm.sh/helm/v4/cmd/helm',
      linkerFlags: ['-s -w', set('v4/internal/version.version', 'v4.3.1')].join(' '),
    },
  },
} as const;

/** Absolute paths; builds what is missing, some five minutes the first time. */
export const ensureGoPrograms = (onProgress?: (step: string) => void) => ensureGoModule(PROGRAMS, onProgress);
