/** Prints progress lines for humans: the current step, and at its end how long it took. */

export interface Progress {
  /** Runs `work` as one step; `detail` describes its progress. */
  step<T>(title: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T>;
  say(line: string): void;
  /** Resolves when no step runs. */
  untilQuiet(): Promise<void>;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/**
 * On a terminal a spinner-less line that is rewritten in place for the oldest running step; elsewhere (a log, CI) one
 * line when a step has taken two seconds and one when it is done, so that a log stays short.
 */
export function createProgress(out: NodeJS.WriteStream): Progress {
  const running = new Map<string, { since: number; detail: string; announced: boolean }>();
  let quiet = Promise.withResolvers<void>();
  quiet.resolve();
  const clear = () => out.isTTY && out.write('\r\u001b[K');
  const draw = () => {
    for (const [title, step] of running) {
      const line = `  … ${title}${step.detail ? `: ${step.detail}` : ''}  ${seconds(performance.now() - step.since)}`;
      if (out.isTTY) {
        clear();
        out.write(line.slice(0, Math.max(20, (out.columns ?? 80) - 1)));
        return;
      }
      if (!step.announced && performance.now() - step.since > 2_000) {
        step.announced = true;
        out.write(`${line}\n`);
      }
    }
  };
  const say = (line: string) => {
    clear();
    out.write(`${line}\n`);
    draw();
  };
  const leave = (title: string) => {
    running.delete(title);
    if (running.size === 0) quiet.resolve();
  };
  return {
    say,
    untilQuiet: () => quiet.promise,
    async step(title, work) {
      const entry = { since: performance.now(), detail: '', announced: false };
      if (running.size === 0) quiet = Promise.withResolvers();
      running.set(title, entry);
      const timer = setInterval(draw, 250);
      try {
        const result = await work((text) => {
          // Off a terminal each new detail is a line of its own: it is what tells a ten-minute build from a hang.
          if (!out.isTTY && text !== entry.detail && performance.now() - entry.since > 2_000)
            say(`  … ${title}: ${text}`);
          entry.detail = text;
        });
        leave(title);
        say(`  ✓ ${title}  ${seconds(performance.now() - entry.since)}`);
        return result;
      } catch (error) {
        leave(title);
        say(`  ✗ ${title}  ${seconds(performance.now() - entry.since)}`);
        throw error;
      } finally {
        clearInterval(timer);
      }
    },
  };
}
