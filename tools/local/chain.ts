/**
 * Runs the local chain of `make run ARGS="--crypto"`: anvil, an optional dependency in package-lock.json. Its coins are
 * worth nothing. The customer's wallet is its first account, for which the node signs itself, so that we hold no
 * private key anywhere. Deposits have addresses of a public key.
 */
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { untilListening } from '../process/ready.ts';
import type { Context } from './context.ts';

const CHAIN_ID = 31_337;
/**
 * The key m/44'/60'/1' of the well-known test words of anvil and similar nodes; their own accounts are those before it.
 */
const XPUB =
  'xpub6Ce9NcJvTk372KjsGfWqbcex5DumjpNquQLApoeQUavSCjEc823BV1tb4rXUuPuht8h2hSxkg2EXUaKUJmniJvRZAELxypsCzBFdtosmV76';
/** In dollars. */
const PRICE = '3000';

/** The path of anvil; undefined where the lock file has none for this machine, or optional dependencies were left out. */
export function anvilProgram(): string | undefined {
  try {
    const at = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/package.json');
    return join(dirname(at), 'bin/anvil');
  } catch {
    return undefined;
  }
}

/** Throws ConfigError, one sentence, where there is no anvil. */
export function requireAnvil(): string {
  const program = anvilProgram();
  if (program !== undefined) return program;
  throw new ConfigError(
    `--crypto needs anvil, which is not installed. On Linux x64, run npm ci --include=optional. This machine is ${process.platform} ${process.arch}.`,
  );
}

/** The address of this system's chain. */
export const chainUrl = ({ ports }: Pick<Context, 'ports'>): string => `http://127.0.0.1:${ports.chain}`;

/** The chain's settings for the API server and billing; none without --crypto. */
export function chainSettings(context: Context): Record<string, string> {
  if (!context.options.crypto) return {};
  const network = {
    network: 'local',
    kind: 'evm',
    chainId: CHAIN_ID,
    rpcUrl: chainUrl(context),
    xpub: XPUB,
    // A block comes with each payment, and none without.
    confirmations: 1,
    assets: [{ asset: 'ETH', decimals: 18, minimum: '1000000000000' }],
  };
  return {
    LOOPSTREAM_CRYPTO_NETWORKS: JSON.stringify([network]),
    LOOPSTREAM_CRYPTO_RATES: JSON.stringify({ currency: 'USD', prices: { ETH: PRICE } }),
  };
}

/** Starts it where the last run has left it. */
export function startChain(context: Context): Promise<void> {
  const { env, state, ports, lifecycle, progress, supervisor } = context;
  return progress.step('local chain', async () => {
    const dir = state.path('chain');
    mkdirSync(dir, { recursive: true });
    const part = supervisor.start({
      name: 'anvil',
      command: requireAnvil(),
      args: [
        '--host',
        '127.0.0.1',
        '--port',
        String(ports.chain),
        '--chain-id',
        String(CHAIN_ID),
        '--accounts',
        '1',
        // Written down each second, for a machine that goes down.
        '--state',
        join(dir, 'state.json'),
        '--state-interval',
        '1',
        '--quiet',
      ],
      env: { PATH: env.path, HOME: dir },
      logFile: state.path('logs', 'anvil.log'),
      stateDir: state.dir,
      untilReady: (signal) => untilListening(ports.chain, signal),
    });
    lifecycle.defer('local chain', () => part.stop());
    await part.started;
  });
}
