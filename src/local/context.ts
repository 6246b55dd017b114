/** What every step of the local system's start is given. */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalEnvironment } from '../environment.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Logger } from '../log.ts';
import type { LocalOptions } from './options.ts';
import type { Progress } from './progress.ts';
import type { LocalState } from './state.ts';
import type { Supervisor } from './supervise.ts';

export interface Ports {
  api: number;
  rtmp: number;
  media: number;
  kube: number;
  /** Of the mailbox's page. */
  mail: number;
  /** Where the mailbox takes mails; nobody else need know it. */
  smtp: number;
  /** Of the local chain; 0 without one. */
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
/** The project's root: this file is src/local/context.ts of a checkout, or bundled into a file of its dist/app/. */
export const PROJECT_ROOT = resolve(dirname(HERE), '../..');
/** The program that every role is started from: bundled, where this is. */
export const MAIN = HERE.endsWith('.ts') ? resolve(PROJECT_ROOT, 'src/main.ts') : resolve(dirname(HERE), 'main.js');

/** Where the local media server finds what it serves to the importer. */
export const mediaDir = (state: LocalState): string => state.path('media');
