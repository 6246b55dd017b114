/** Parses the arguments of `make run ARGS="pay …"`. Pure: no I/O, no clock. */
import { ConfigError } from '../../src/core/settings/settings.ts';

const WEI_DIGITS = 18;

export interface Payment {
  /** The deposit's address. */
  to: string;
  wei: bigint;
}

/** Throws ConfigError for what is no address, or no amount of ether. */
export function readPayment(to = '', amount = ''): Payment {
  const [, whole, fraction = ''] = /^(\d{1,4})(?:\.(\d{1,18}))?$/.exec(amount) ?? [];
  const wei = whole === undefined ? 0n : BigInt(whole + fraction.padEnd(WEI_DIGITS, '0'));
  if (/^0x[0-9a-fA-F]{40}$/.test(to) && wei > 0n) return { to, wei };
  throw new ConfigError('pay needs the address of a deposit and an amount of ether, such as: pay 0x… 0.01.');
}
