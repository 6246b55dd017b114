/**
 * Builds the programs of C while the local system runs, where they are missing. A build gives way to all that is on air, never fails the
 * run, and ends with it.
 */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type BuildProgram,
  DRAW_TEXT,
  ensureCompiled,
  findCompiled,
  type Program,
  SENDER,
  scriptPath,
  whyNotCompiled,
} from '../process/compiled.ts';
import { spawnChild } from '../process/processes.ts';
import { run } from '../process/run.ts';
import type { Context } from './context.ts';

const LOWEST_PRIORITY = 19;

type Surroundings = Pick<Context, 'env' | 'lifecycle' | 'progress' | 'state'>;

/**
 * Gives the session of a process the least share of the processors. Where the kernel groups processes by session (sched(7), autogroup),
 * the nice value of a process counts only within its own.
 */
function lowerSession(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(LOWEST_PRIORITY));
  } catch {
    // The kernel has no such groups, or the process has ended.
  }
}

function lowPriorityBuild({ env, lifecycle, state }: Surroundings, script: string): BuildProgram {
  return async (dir) => {
    const name = basename(script);
    const child = await spawnChild({
      name,
      command: 'nice',
      args: ['-n', String(LOWEST_PRIORITY), 'ionice', '-c', '3', script, dir],
      env: Object.fromEntries(Object.entries(env.all).flatMap(([key, value]) => (value ? [[key, value]] : []))),
      logFile: state.path('logs', `${name}.log`),
      stateDir: state.dir,
    });
    lowerSession(child.pid);
    lifecycle.defer(name, () => child.stop());
    const { code, lastLogLines } = await child.exited;
    return { ok: code === 0, reason: lastLogLines.at(-1) };
  };
}

interface Built {
  program: Program;
  setting: 'LOOPSTREAM_SENDER' | 'LOOPSTREAM_DRAW_TEXT';
  /** Why it is built, what it does once it is there, and what happens without it. */
  why: string;
  next: string;
  otherwise: string;
}

const BUILT: readonly Built[] = [
  {
    program: DRAW_TEXT,
    setting: 'LOOPSTREAM_DRAW_TEXT',
    why: 'overlays need it for their texts',
    next: 'the next overlay uses it',
    otherwise: 'overlays with texts cannot be prepared',
  },
  {
    program: SENDER,
    setting: 'LOOPSTREAM_SENDER',
    why: 'streams take a third less memory with it',
    next: 'each stream uses it from its next start',
    otherwise: 'streams send with the ffmpeg of this machine',
  },
];

/** Builds the programs one after the other. Never rejects. */
export async function buildAllBehind(surroundings: Surroundings): Promise<void> {
  for (const built of BUILT) await buildBehind(built.program, surroundings);
}

/** Builds it where this machine and user can, and reports its start and its end. Never rejects. */
export async function buildBehind(
  program: Program,
  surroundings: Surroundings,
  script = scriptPath(program),
): Promise<void> {
  const { env, lifecycle, progress } = surroundings;
  const { signal } = lifecycle;
  const built = BUILT.find((one) => one.program === program);
  if (!built || env.settings[built.setting] !== undefined) return;
  if (findCompiled(program, env.cacheDir) || whyNotCompiled(program)) return;
  let since = 0;
  try {
    if (!(await run(script, ['--check'], { env: env.all, signal })).ok) return;
    await ensureCompiled(program, {
      onProgress: () => {
        since = performance.now();
        progress.say(`  … building ${program.name} in the background: ${built.why}`);
      },
      build: lowPriorityBuild(surroundings, script),
      signal,
      cacheDir: env.cacheDir,
    });
    const took = since === 0 ? '' : `  ${((performance.now() - since) / 1000).toFixed(0)} s`;
    if (!signal.aborted) progress.say(`  ✓ ${program.name} is built: ${built.next}${took}`);
  } catch (error) {
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    progress.say(`  ✗ ${reason} (${built.otherwise})`);
  }
}
