/**
 * Builds the tests' Go programs that no package provides: an S3 server, the process that holds a pod together, and Helm where no package
 * has it (helm/program.ts).
 */
import { join } from 'node:path';
import { ensureGoModule } from '../../../tools/control-plane/go-module.ts';

const set = (variable: string, value: string) => `-X helm.sh/helm/${variable}=${value}`;

/** Flags of Helm's own release builds: without them Helm 3 assumes Kubernetes 1.20 when it asks no cluster. */
const HELM_3 = [
  '-s -w',
  set('v3/internal/version.version', 'v3.22.0'),
  ...['v3/pkg/lint/rules', 'v3/pkg/chartutil'].flatMap((pkg) => [
    set(`${pkg}.k8sVersionMajor`, '1'),
    set(`${pkg}.k8sVersionMinor`, '37'),
  ]),
].join(' ');

const MODULE = {
  name: 'the programs of the tests',
  moduleDir: join(import.meta.dirname, 'go'),
  seldomUsed: ['all'],
} as const;

const PROGRAMS = {
  ...MODULE,
  file: 'test-programs',
  sources: ['pause/main.go'],
  programs: {
    pause: { goPackage: './pause', linkerFlags: '-s -w' },
    versitygw: { goPackage: 'github.com/versity/versitygw/cmd/versitygw' },
  },
} as const;

const HELMS = {
  ...MODULE,
  file: 'test-helm',
  programs: {
    helm3: { goPackage: 'helm.sh/helm/v3/cmd/helm', linkerFlags: HELM_3 },
    helm4: {
      goPackage: 'helm.sh/helm/v4/cmd/helm',
      linkerFlags: ['-s -w', set('v4/internal/version.version', 'v4.3.1')].join(' '),
    },
  },
} as const;

const ENFORCER = {
  name: 'what enforces NetworkPolicies in the tests',
  file: 'test-enforcer',
  moduleDir: join(import.meta.dirname, 'enforcer'),
  sources: ['main.go'],
  seldomUsed: ['all'],
  programs: { enforcer: { goPackage: '.', linkerFlags: '-s -w' } },
} as const;

const KIND = {
  name: 'kind, for the tests',
  file: 'test-kind',
  moduleDir: join(import.meta.dirname, 'kind'),
  seldomUsed: ['all'],
  programs: { kind: { goPackage: 'sigs.k8s.io/kind', linkerFlags: '-s -w' } },
} as const;

const RTMP_LOGIN = {
  name: 'the RTMP server of the tests that asks for a login',
  file: 'test-rtmp-login',
  moduleDir: join(import.meta.dirname, 'rtmp-login'),
  sources: ['main.go'],
  seldomUsed: ['all'],
  programs: { 'rtmp-login': { goPackage: '.', linkerFlags: '-s -w' } },
} as const;

const HEALTH = {
  name: 'kstatus and the Lua of Argo CD, for the tests',
  file: 'test-health',
  moduleDir: join(import.meta.dirname, 'health'),
  sources: ['main.go'],
  seldomUsed: ['all'],
  programs: { health: { goPackage: '.', linkerFlags: '-s -w' } },
} as const;

const OTLP = {
  name: 'a collector of traces, for the tests',
  file: 'test-otlp',
  moduleDir: join(import.meta.dirname, 'otlp'),
  sources: ['main.go'],
  seldomUsed: ['all'],
  programs: { otlp: { goPackage: '.', linkerFlags: '-s -w' } },
} as const;

const FLUX = {
  name: 'the applier of Flux, for the tests',
  file: 'test-flux',
  moduleDir: join(import.meta.dirname, 'flux'),
  sources: ['main.go'],
  seldomUsed: ['all'],
  programs: { flux: { goPackage: '.', linkerFlags: '-s -w' } },
} as const;

/** Builds missing programs, in a minute or two the first time; returns absolute paths. */
export const ensureGoPrograms = (onProgress?: (step: string) => void) => ensureGoModule(PROGRAMS, onProgress);

/** Builds the enforcer for the cluster's nodes. */
export const ensureEnforcer = (onProgress?: (step: string) => void) => ensureGoModule(ENFORCER, onProgress);

export const ensureKind = (onProgress?: (step: string) => void) => ensureGoModule(KIND, onProgress);

export const ensureRtmpLogin = (onProgress?: (step: string) => void) => ensureGoModule(RTMP_LOGIN, onProgress);

export const ensureHealth = (onProgress?: (step: string) => void) => ensureGoModule(HEALTH, onProgress);

export const ensureOtlp = (onProgress?: (step: string) => void) => ensureGoModule(OTLP, onProgress);

export const ensureFlux = (onProgress?: (step: string) => void) => ensureGoModule(FLUX, onProgress);

export const ensureGoHelms = (onProgress?: (step: string) => void) => ensureGoModule(HELMS, onProgress);
