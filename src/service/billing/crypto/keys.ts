/**
 * Derives addresses from an extended public key (BIP 32): the server can make addresses and can never spend from them,
 * since it has no private key. Deposits have the external addresses of the key's account, `0/<index>`. The key of
 * m/44'/60'/0' gives those of EVM wallets, that of m/84'/0'/0' the native segwit addresses of BIP 84. Pure: no I/O, no
 * clock.
 */
import { HDKey, type Versions } from '@scure/bip32';
import { Address, NETWORK, p2wpkh, TEST_NETWORK } from '@scure/btc-signer';
import { bytesToHex, getAddress, isAddress, keccak256 } from 'viem/utils';
import type { BtcNetwork, NetworkSetting } from './spec.ts';

/** BIP 32, and SLIP 132 for the keys that say by their first letter what their addresses are. */
const MAINNET: readonly Versions[] = [
  { private: 0x0488ade4, public: 0x0488b21e },
  { private: 0x04b2430c, public: 0x04b24746 },
];
const TESTNET: readonly Versions[] = [
  { private: 0x04358394, public: 0x043587cf },
  { private: 0x045f18bc, public: 0x045f1cf6 },
];

const BITCOIN = { mainnet: NETWORK, testnet: TEST_NETWORK, regtest: { ...TEST_NETWORK, bech32: 'bcrt' } } as const;
export const bitcoinNetwork = ({ chain }: Pick<BtcNetwork, 'chain'>) => BITCOIN[chain];

export class KeyError extends Error {
  override readonly name = 'KeyError';
}

const READ_AS: Record<BtcNetwork['chain'] | 'evm', { versions: readonly Versions[]; names: string }> = {
  evm: { versions: MAINNET.slice(0, 1), names: 'an xpub' },
  mainnet: { versions: MAINNET, names: 'an xpub or a zpub' },
  testnet: { versions: TESTNET, names: 'a tpub or a vpub' },
  regtest: { versions: TESTNET, names: 'a tpub or a vpub' },
};

/** Throws KeyError, which repeats nothing of the key, for what is none, is one of another network, or can spend. */
function readKey(text: string, kind: keyof typeof READ_AS): HDKey {
  // A private key is reported before any other mistake: it must leave the machine.
  if (/^[a-z]prv/i.test(text))
    throw new KeyError('is a private key; replace it by the public one and remove it from this machine');
  const { versions, names } = READ_AS[kind];
  for (const one of versions) {
    try {
      return HDKey.fromExtendedKey(text, one);
    } catch {
      // Perhaps it is one of the next kind.
    }
  }
  throw new KeyError(`is not ${names}`);
}

// secp256k1: y² = x³ + 7 modulo P. Ethereum hashes both coordinates, and BIP 32 keeps one of them and a sign.
const P = 2n ** 256n - 2n ** 32n - 977n;

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base % P, left = exponent; left > 0n; left >>= 1n, square = (square * square) % P)
    if (left & 1n) result = (result * square) % P;
  return result;
}

const formatHex = (number: bigint): string => number.toString(16).padStart(64, '0');

/**
 * Derives the address of a point on the curve as BIP 32 has it: 33 bytes, of which the first shows whether y is odd.
 */
function evmAddress(compressed: Uint8Array): string {
  const x = BigInt(bytesToHex(compressed.subarray(1)));
  const root = power((power(x, 3n) + 7n) % P, (P + 1n) / 4n);
  const y = (root & 1n) === BigInt((compressed[0] ?? 0) & 1) ? root : P - root;
  return getAddress(`0x${keccak256(`0x${formatHex(x)}${formatHex(y)}`).slice(-40)}`);
}

export interface AddressMaker {
  /** The same for the same key on all networks: its addresses are counted once. It reveals nothing of the key. */
  keyId: string;
  /** The address as wallets show it. `index` from 0. */
  address(index: number): string;
  /** The public key of the address, for the signer. */
  publicKey(index: number): Uint8Array;
  /** The fingerprint of the account's key (BIP 32). */
  fingerprint: number;
}

/** Throws KeyError. */
export function createAddresses(network: NetworkSetting): AddressMaker {
  const account = readKey(network.xpub, network.kind === 'evm' ? 'evm' : network.chain);
  const external = account.deriveChild(0);
  const publicKey = (index: number) => external.deriveChild(index).publicKey as Uint8Array;
  const address = (index: number): string => {
    const key = publicKey(index);
    if (network.kind === 'evm') return evmAddress(key);
    return p2wpkh(key, bitcoinNetwork(network)).address as string;
  };
  const keyId = keccak256(account.publicKey as Uint8Array).slice(2, 18);
  return { keyId, address, publicKey, fingerprint: account.fingerprint };
}

/** With letters of both cases it is held to its checksum (EIP-55). */
export const isEvmAddress = (text: string): boolean =>
  isAddress(text, { strict: /[a-f]/.test(text.slice(2)) && /[A-F]/.test(text) });

export function isBitcoinAddress(network: Pick<BtcNetwork, 'chain'>, text: string): boolean {
  try {
    Address(bitcoinNetwork(network)).decode(text);
    return true;
  } catch {
    return false;
  }
}
