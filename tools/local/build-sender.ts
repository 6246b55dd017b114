/**
 * Builds ffmpeg-send while the local system runs, where it is missing: a stream then takes a third less memory. The build gives way to all
 * that is on air, never fails the run, and ends with it.
 */
import { writeFileSync } from 'node:fs';
import { spawnChild } from '../process/processes.ts';
import { run } from '../process/run.ts';
import { type BuildSender, ensureSender, findSender, SENDER_SCRIPT, whyNoSender } from '../process/sender.ts';
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

function lowPriorityBuild({ env, lifecycle, state }: Surroundings, script: string): BuildSender {
  return async (dir) => {
    const child = await spawnChild({
      name: 'build-sender',
      command: 'nice',
      args: ['-n', String(LOWEST_PRIORITY), 'ionice', '-c', '3', script, dir],
      env: Object.fromEntries(Object.entries(env.all).flatMap(([name, value]) => (value ? [[name, value]] : []))),
      logFile: state.path('logs', 'build-sender.log'),
      stateDir: state.dir,
    });
    lowerSession(child.pid);
    lifecycle.defer('build-sender', () => child.stop());
    const { code, lastLogLines } = await child.exited;
    return { ok: code === 0, reason: lastLogLines.at(-1) };
  };
}

/** Builds it where this machine and user can, and reports its start and its end. Never rejects. */
export async function buildSenderBehind(surroundings: Surroundings, script = SENDER_SCRIPT): Promise<void> {
  const { env, lifecycle, progress } = surroundings;
  const { signal } = lifecycle;
  if (env.settings.LOOPSTREAM_SENDER !== undefined || findSender(env.cacheDir) || whyNoSender()) return;
  let since = 0;
  try {
    if (!(await run(script, ['--check'], { env: env.all, signal })).ok) return;
    await ensureSender({
      onProgress: () => {
        since = performance.now();
        progress.say('  … building ffmpeg-send in the background: streams take a third less memory with it');
      },
      build: lowPriorityBuild(surroundings, script),
      signal,
      cacheDir: env.cacheDir,
    });
    const took = since === 0 ? '' : `  ${((performance.now() - since) / 1000).toFixed(0)} s`;
    if (!signal.aborted) progress.say(`  ✓ ffmpeg-send is built: each stream uses it from its next start${took}`);
  } catch (error) {
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    progress.say(`  ✗ ${reason} (streams send with the ffmpeg of this machine)`);
  }
}
