/** Runs a collector of traces (otlp/main.go), and collects the spans that it received. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ensureOtlp } from '../../kit/real/go-programs.ts';

export interface ReceivedSpan {
  /** Attributes of the process. */
  resource: Record<string, string>;
  name: string;
  kind: string;
  traceID: string;
  spanID: string;
  /** Empty where the span begins a trace. */
  parentID: string;
  /** Trace ids. */
  links: string[];
  startNanos: number;
  endNanos: number;
  status: string;
  attributes: Record<string, string | number | boolean>;
}

export interface Collector {
  url: string;
  spans: readonly ReceivedSpan[];
  stop(): Promise<void>;
}

/** `authorization`: the value of the header without which it accepts nothing. */
export async function startCollector(authorization?: string): Promise<Collector> {
  const { otlp } = await ensureOtlp();
  const child = spawn(otlp, authorization === undefined ? [] : [authorization], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  const [address] = (await once(lines, 'line')) as [string];
  const spans: ReceivedSpan[] = [];
  lines.on('line', (line) => spans.push(JSON.parse(line) as ReceivedSpan));
  return {
    url: `http://${address}`,
    spans,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
