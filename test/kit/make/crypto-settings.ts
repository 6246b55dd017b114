/** Provides settings of crypto deposits for an API that only gives addresses, without a node. */
import { HDKey } from '@scure/bip32';
import type { EvmNetwork } from '../../../src/service/billing/crypto/spec.ts';
import { query } from '../real/postgres.ts';

const SEED = new Uint8Array(32).fill(7);

/** Returns the public key of an account, which can spend nothing. */
export const derivePublicKey = (path: string, versions?: { private: number; public: number }): string =>
  HDKey.fromMasterSeed(SEED, versions).derive(path).publicExtendedKey;

/** Returns the wallet of that public key. */
export const deriveWallet = (path: string): HDKey => HDKey.fromMasterSeed(SEED).derive(path);

export const ETHEREUM: EvmNetwork = {
  network: 'ethereum',
  kind: 'evm',
  chainId: 1,
  rpcUrl: 'http://127.0.0.1:9/key',
  confirmations: 3,
  xpub: derivePublicKey("m/44'/60'/0'"),
  assets: [{ asset: 'ETH', decimals: 18 }],
};

export const CRYPTO_SETTINGS = {
  LOOPSTREAM_CRYPTO_NETWORKS: JSON.stringify([ETHEREUM]),
  LOOPSTREAM_CRYPTO_RATES: '{"currency":"USD","prices":{"ETH":"3000"}}',
};

/** Marks scanning as begun: the API gives no address before that. */
export const beginScanning = (databaseUrl: string) =>
  query(
    databaseUrl,
    `insert into loopstream.crypto_scans (network, height, hash) values ('ethereum', 1, '0x01') on conflict do nothing`,
  );
