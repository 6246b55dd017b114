/** Waits for slow results, reports progress meanwhile, and stops when the client leaves. */
import { systemClock } from '../../../core/lib/clock.ts';
import type { ToolCall } from './tool.ts';

/** Most clients abort a silent call after a minute. */
const BEAT_MS = 5_000;
/** Each progress value must exceed the one before (MCP, Progress). */
const STEP = 0.001;

export interface Reporting<T> {
  onChange: (now: T) => void;
  signal: AbortSignal;
}

/** `work` waits for this many seconds at most; `summarize` describes its state in a sentence. */
export async function reportProgress<T, R>(
  call: ToolCall,
  seconds: number,
  summarize: (now: T) => string,
  work: (news: Reporting<T>) => Promise<R>,
): Promise<R> {
  const { signal } = call;
  const since = systemClock.monotonicMs();
  let last = 0;
  let message = 'The request was accepted.';
  const report = () => {
    last = Math.max(last + STEP, (systemClock.monotonicMs() - since) / 1000);
    call.report({ seconds: last, total: seconds, message });
  };
  const onChange = (now: T) => {
    const summary = summarize(now);
    if (seconds === 0 || summary === message) return;
    message = summary;
    report();
  };
  const timer = seconds === 0 ? undefined : setInterval(report, BEAT_MS);
  try {
    return await work({ onChange, signal });
  } finally {
    clearInterval(timer);
  }
}
