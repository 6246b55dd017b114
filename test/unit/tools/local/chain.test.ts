/** Tests that the servers accept the local chain's settings, with a public key alone, whose origin the source names. */
import { mnemonicToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { cryptoSettings } from '../../../../src/service/billing/crypto/settings.ts';
import { apiConfig } from '../../../../src/service/server/setup/settings.ts';
import { chainSettings } from '../../../../tools/local/chain.ts';
import type { Context } from '../../../../tools/local/context.ts';

/** The test words of every such chain. */
const WORDS = `${'test '.repeat(11)}junk`;
const readSettings = (crypto: boolean) => chainSettings({ options: { crypto }, ports: { chain: 8545 } } as Context);

test('deposits have addresses of their own, which are not that of the customer', () => {
  const required = { LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_AUTH_SECRET: 'none' };
  const { crypto } = apiConfig({ ...required, ...readSettings(true) });
  const addresses = cryptoSettings(crypto)?.networks.get('local')?.addresses;
  for (const addressIndex of [0, 1, 7])
    expect(addresses?.address(addressIndex)).toBe(mnemonicToAccount(WORDS, { accountIndex: 1, addressIndex }).address);
  expect(addresses?.address(0)).not.toBe(mnemonicToAccount(WORDS).address);
});

test('without --crypto no API shows a chain', () => expect(readSettings(false)).toEqual({}));
