/** Declares the context of each step of the local system's start. */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lifecycle } from '../../src/core/lib/lifecycle.ts';
import type { Logger } from '../../src/core/lib/log.ts';
import type { LocalEnvironment } from '../process/environment.ts';
import { PROJECT_ROOT } from '../process/root.ts';
import type { Supervisor } from '../process/supervise.ts';
import type { LocalOptions } from './options.ts';
import type { Progress } from './progress.ts';
import type { LocalState } from './state.ts';

export interface Ports {
  api: number;
  rtmp: number;
  media: number;
  kube: number;
  /** The mailbox's page. */
  mail: number;
  /** The mailbox's SMTP port; no other part needs it. */
  smtp: number;
  /** The local chain; 0 without one. */
  chain: number;
}

export interface Context {
  options: LocalOptions;
  env: LocalEnvironment;
  state: LocalState;
  ports: Ports;
  lifecycle: Lifecycle;
  progress: Progress;
  log: Logger;
  supervisor: Supervisor;
}

const HERE = fileURLToPath(import.meta.url);
const IS_BUNDLED = !HERE.endsWith('.ts');
/** The program that starts every role: bundled, where this one is. */
export const MAIN = resolve(PROJECT_ROOT, IS_BUNDLED ? 'dist/app/main.js' : 'src/service/main.ts');
/** The program of the local system itself, for the processes that it starts of its own. */
export const LOCAL_MAIN = IS_BUNDLED ? HERE : resolve(dirname(HERE), 'main.ts');

/** The directory from which the local media server serves files to the importer. */
export const mediaDir = (state: LocalState): string => state.path('media');
