/** Tests the computation of keys, amounts, payment addresses and settings. */
import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { privateKeyToAddress } from 'viem/accounts';
import { toHex } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../../src/core/settings/settings.ts';
import { amountFor, creditsFor, formatUnits, parseRate } from '../../../../../src/service/billing/crypto/amounts.ts';
import { createAddresses } from '../../../../../src/service/billing/crypto/keys.ts';
import { rateTable } from '../../../../../src/service/billing/crypto/rate-table.ts';
import { type CryptoConfig, cryptoSettings } from '../../../../../src/service/billing/crypto/settings.ts';
import type { BtcNetwork } from '../../../../../src/service/billing/crypto/spec.ts';
import { paymentUri } from '../../../../../src/service/billing/crypto/uri.ts';
import { creditsPerUnit } from '../../../../../src/service/billing/ledger/money.ts';
import { derivePublicKey, deriveWallet, ETHEREUM } from '../../../../kit/make/crypto-settings.ts';

const btc = (xpub: string, chain: BtcNetwork['chain'] = 'mainnet'): BtcNetwork => ({
  network: 'bitcoin',
  kind: 'btc',
  chain,
  esploraUrl: 'https://esplora.example.com',
  xpub,
  confirmations: 2,
});
const evm = ETHEREUM;

describe('addresses', () => {
  test('of an EVM network are those of the wallet, whose key the server never had', () => {
    const { address } = createAddresses(evm);
    const wallet = deriveWallet("m/44'/60'/0'/0");
    for (const index of [0, 1, 2, 3, 999, 123_456]) {
      const key = wallet.deriveChild(index).privateKey as Uint8Array;
      expect(address(index)).toBe(privateKeyToAddress(toHex(key)));
    }
  });

  test('of Bitcoin are those of BIP 84’s own example', () => {
    // https://github.com/bitcoin/bips/blob/master/bip-0084.mediawiki#test-vectors
    const zpub =
      'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
    const { address, publicKey } = createAddresses(btc(zpub));
    expect([address(0), address(1)]).toEqual([
      'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
      'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g',
    ]);
    expect(toHex(publicKey(0))).toBe('0x0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c');
  });

  test('are made of public keys of the right network alone, and nothing of a wrong one is repeated', () => {
    const secret = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).privateExtendedKey;
    const testKey = derivePublicKey("m/84'/1'/0'", { private: 0x045f18bc, public: 0x045f1cf6 });
    expect(createAddresses(btc(testKey, 'testnet')).address(0)).toMatch(/^tb1q/);
    for (const network of [btc(secret), btc(testKey), btc('zpubnonsense'), { ...evm, xpub: testKey }])
      expect(() => createAddresses(network)).toThrow(/^(?!.*(xprv|vpub|nonsense))/);
    expect(() => createAddresses(btc(secret))).toThrow('private key');
  });
});

describe('amounts', () => {
  const worth = fc.record({
    rate: fc.bigInt({ min: 1n, max: 10n ** 15n }),
    decimals: fc.integer({ min: 0, max: 24 }),
    creditsPerUnit: fc.constantFrom(100n, 10_000n, 100_000n),
  });

  test('a customer never loses a full credit, and never gains one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), worth, (amount, value) => {
        const credits = creditsFor(amount, value);
        const exact = amount * value.rate * value.creditsPerUnit;
        const scale = 10n ** BigInt(8 + value.decimals);
        expect(credits * scale <= exact && exact < (credits + 1n) * scale).toBe(true);
      }),
    );
  });

  test('the amount asked for is worth the credits, and no smaller amount is', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 12n }), worth, (credits, value) => {
        const amount = amountFor(credits, value);
        expect(creditsFor(amount, value)).toBeGreaterThanOrEqual(credits);
        if (amount > 1n) expect(creditsFor(amount - 1n, value)).toBeLessThan(credits);
      }),
    );
  });

  test('prices are texts of digits', () => {
    expect([parseRate('61234.56'), parseRate('1'), parseRate('0.00000001')]).toEqual([
      6_123_456_000_000n,
      10n ** 8n,
      1n,
    ]);
    for (const wrong of ['', '0', '-1', '1e3', '1.', '.5', '0.000000001', '01', '1,5', ' 1', 'NaN'])
      expect(parseRate(wrong), wrong).toBeUndefined();
    expect([formatUnits(1_500n, 3), formatUnits(5n, 3), formatUnits(1_000n, 3), formatUnits(7n, 0)]).toEqual([
      '1.5',
      '0.005',
      '1',
      '7',
    ]);
  });

  test('a table of prices is of one currency, and one price that is none spoils it', () => {
    const table = (prices: unknown, currency = 'USD') => rateTable({ currency, prices }, 'USD');
    expect(table({ ETH: '3000' })?.get('ETH')).toBe(3000n * 10n ** 8n);
    for (const wrong of [{ ETH: 3000 }, { ETH: '3000', BTC: 'much' }, ['3000'], 'no'])
      expect(table(wrong)).toBeUndefined();
    expect(table({ ETH: '3000' }, 'EUR')).toBeUndefined();
    expect(rateTable('<html>', 'USD')).toBeUndefined();
  });
});

test('a QR code holds the URI of EIP-681 or BIP 21', () => {
  const [coin] = evm.assets;
  const token = { asset: 'USDT', decimals: 6, contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7' };
  if (!coin) throw new Error('There is no coin.');
  expect(paymentUri(evm, coin, '0xA', 10n ** 17n)).toBe('ethereum:0xA@1?value=100000000000000000');
  expect(paymentUri(evm, coin, '0xA')).toBe('ethereum:0xA@1');
  expect(paymentUri(evm, token, '0xA', 5n)).toBe(
    'ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=0xA&uint256=5',
  );
  expect(paymentUri(btc('x'), { asset: 'BTC', decimals: 8 }, 'bc1q', 50_000n)).toBe('bitcoin:bc1q?amount=0.0005');
  expect(paymentUri(btc('x'), { asset: 'BTC', decimals: 8 }, 'bc1q')).toBe('bitcoin:bc1q');
});

describe('settings', () => {
  const read = (more: Partial<CryptoConfig>) =>
    cryptoSettings({
      networks: [evm],
      rates: { currency: 'USD', prices: { ETH: '3000' } },
      ratesUrl: undefined,
      quoteSeconds: 900,
      currency: 'USD',
      ...more,
    });

  test('without networks there are no deposits; with one, credits are counted by the currency’s minor unit', () => {
    expect(read({ networks: undefined })).toBeUndefined();
    expect([...(read({})?.networks.keys() ?? [])]).toEqual([evm.network]);
    expect([creditsPerUnit(2), creditsPerUnit(0)]).toEqual([10_000n, 100n]);
  });

  test('an error names the wrong field, and repeats no value that may be secret', () => {
    const secret = { ...evm, rpcUrl: 'ftp://node/hidden' };
    const xprv = { ...evm, xpub: HDKey.fromMasterSeed(new Uint8Array(32)).privateExtendedKey };
    const wrong: Partial<CryptoConfig>[] = [
      { networks: {} },
      { networks: [] },
      { networks: [secret] },
      { networks: [xprv] },
      { networks: [evm, evm] },
      { networks: [{ ...evm, confirmations: 0 }] },
      { networks: [{ ...evm, assets: [...evm.assets, ...evm.assets] }] },
      { ratesUrl: 'https://rates.example.com' },
      { rates: undefined },
      { rates: { currency: 'EUR', prices: {} } },
      { rates: undefined, ratesUrl: 'rates' },
      { rates: { currency: 'USD', prices: { ETH: 'much' } } },
    ];
    for (const one of wrong) {
      expect(() => read(one), JSON.stringify(one)).toThrow(ConfigError);
      expect(() => read(one)).toThrow(/^(?!.*(hidden|xprv9)).*LOOPSTREAM_CRYPTO/s);
    }
  });
});
