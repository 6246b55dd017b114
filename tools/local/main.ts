#!/usr/bin/env node
/** Runs the whole product on this machine: up, stop, reset, grant, pay, and the receiver that `up` starts as a child. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { environment } from '../../src/core/settings/environment.ts';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { localEnvironment } from '../process/environment.ts';
import { PROJECT_ROOT } from '../process/root.ts';
import { LOCAL_MAIN } from './context.ts';
import { LOCAL_HELP, type LocalOptions, parseLocalOptions } from './options.ts';
import type { ReceiverOptions } from './receiver.ts';
import { openState } from './state.ts';
import { refuseSecond, stopSupervisor, untilReadyOrGone } from './supervisor.ts';

async function main(args: string[]): Promise<number | undefined> {
  const options = parseLocalOptions(args);
  const state = () => openState(resolve(options.stateDir ?? `${PROJECT_ROOT}/.loopstream`));
  switch (options.command) {
    case 'help':
      process.stdout.write(LOCAL_HELP);
      return 0;
    case 'stop': {
      const stopped = await stopSupervisor(state());
      process.stdout.write(stopped ? 'loopstream is stopped.\n' : 'loopstream was not running.\n');
      return 0;
    }
    case 'reset': {
      await stopSupervisor(state());
      const { dir } = state();
      rmSync(dir, { recursive: true, force: true });
      process.stdout.write(`Deleted the state in ${dir}.\n`);
      return 0;
    }
    case 'receiver': {
      const { runReceiver } = await import('./receiver.ts');
      await runReceiver(localEnvironment().receiver() as ReceiverOptions);
      return undefined;
    }
    case 'grant':
      return (await import('./grant.ts')).grant(state(), localEnvironment(), options.grant ?? { account: '' });
    case 'pay': {
      const { pay } = await import('./pay.ts');
      const { to, wei } = options.payment ?? { to: '', wei: 0n };
      process.stdout.write(`Paid: transaction ${await pay(state(), { to, wei })}.\n`);
      return 0;
    }
    case 'up':
      if (options.kind) await (await import('./kind/commands.ts')).requireKind(localEnvironment());
      if (options.detach) return detach(args, options);
      return (await import('./up.ts')).up(
        options,
        openState(resolve(options.stateDir ?? `${PROJECT_ROOT}/.loopstream`)),
      );
  }
}

/** Runs `up` as a process of its own and shows its progress until all is ready. */
async function detach(args: string[], options: LocalOptions): Promise<number> {
  const state = openState(resolve(options.stateDir ?? `${PROJECT_ROOT}/.loopstream`));
  refuseSecond(state);
  const logFile = state.path('up.log');
  rmSync(logFile, { force: true });
  state.removeFacts();
  const output = openSync(logFile, 'a+', 0o600);
  // The key in --to would stand in the process list as long as the stream is on air; an environment is its owner's alone.
  const rest = args.filter((arg, i) => arg !== '--detach' && !/^--to(=|$)/.test(arg) && args[i - 1] !== '--to');
  const child = spawn(process.execPath, [LOCAL_MAIN, ...rest], {
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...environment(), ...(options.to === undefined ? {} : { LOOPSTREAM_TO: options.to }) },
  });
  let shown = 0;
  const show = () => {
    const buffer = Buffer.alloc(65_536);
    const read = readSync(output, buffer, 0, buffer.length, shown);
    shown += read;
    process.stdout.write(buffer.subarray(0, read));
  };
  const ready = await untilReadyOrGone(state, child.pid ?? 0, show);
  show();
  closeSync(output);
  child.unref();
  return ready ? 0 : 1;
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== undefined) process.exit(code);
} catch (error) {
  const isKnown = error instanceof ConfigError;
  const text = isKnown || !(error instanceof Error) ? String((error as Error).message ?? error) : error.stack;
  process.stderr.write(`loopstream: ${text}\n`);
  process.exit(isKnown ? 2 : 1);
}
