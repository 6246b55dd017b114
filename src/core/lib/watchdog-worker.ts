/** The thread of the watchdog: measures the steps of the main thread's loop, and ends the process where one never ends. */
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { setTimeout } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import type { WatchdogData } from './watchdog.ts';
import { createStepMeter, parseCPUSeconds } from './watchdog-look.ts';

const LOOK_MS = 1000;
/** How long the step may take to be interrupted. */
const INTERRUPT_MS = 5000;
const MAX_FRAMES = 10;
const STDERR = 2;

const { beats, seconds, exitCode, lastWords } = workerData as WatchdogData;

/** Undefined where the system does not tell it. */
function readCPUSeconds(): number | undefined {
  try {
    // The main thread has the number of its process.
    return parseCPUSeconds(readFileSync(`/proc/${process.pid}/task/${process.pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** In the form of the other lines of the log (log.ts), whose logger is in the thread that stands. */
function logFatal(fields: object, msg: string): void {
  writeSync(STDERR, `${JSON.stringify({ level: 60, time: Date.now(), ...fields, msg })}\n`);
}

/**
 * Interrupts the main thread where it computes, and has it end the process. A signal would not do: the first process of
 * a container ignores SIGKILL from within. Resolves if the step cannot be interrupted.
 */
async function exitInside(): Promise<void> {
  const session = new Session();
  session.connectToMainThread();
  const files = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => files.set(scriptId, url));
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    const frames = callFrames
      .slice(0, MAX_FRAMES)
      .map(
        ({ functionName, location: { scriptId, lineNumber } }) =>
          `${functionName} ${files.get(scriptId) ?? ''}:${lineNumber + 1}`,
      );
    logFatal({ frames }, 'the step that never ended');
    const [{ callFrameId } = { callFrameId: '' }] = callFrames;
    session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression: `process.reallyExit(${exitCode})` });
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  await setTimeout(INTERRUPT_MS);
}

async function endProcess(cpuSeconds: number): Promise<void> {
  writeFileSync(lastWords.file, lastWords.text);
  logFatal({ cpuSeconds }, 'one step of the program computes without an end, so the process is ended');
  await exitInside();
  process.kill(process.pid, 'SIGKILL');
}

const measure = createStepMeter();
for (;;) {
  const cpuSeconds = readCPUSeconds();
  if (cpuSeconds === undefined) break;
  const step = measure({ beats: Atomics.load(beats, 0), cpuSeconds });
  if (step >= seconds) await endProcess(step);
  await setTimeout(LOOK_MS);
}
