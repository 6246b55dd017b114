/**
 * Declares deposits and payments for the scanner, the API and the tables. A deposit is an address with a quote, for one
 * account; a payment is one transfer that the chain shows to such an address. Pure: no I/O, no clock.
 *
 * A payment is in one of these states:
 * - `seen`: the network has heard of it and it is in no block yet (Bitcoin alone tells);
 * - `confirming`: it is in a block, which is one of fewer than the network's confirmations;
 * - `credited`: the ledger has it. When its block leaves the chain it stays so, without a height, for as many blocks as its
 *   confirmations: mostly the transaction is in another block by then, and nothing has to be taken back;
 * - `reversed`: it was credited and has left the chain; a correction took the credits back. When it comes back to the chain it
 *   is `confirming` again, and is credited once more under a key of its own;
 * - `reorged`: its block has left the chain before it was credited; it comes back, or is `dropped` in the end;
 * - `dropped`: the network no longer knows it: another transaction has taken its place;
 * - `ignored`: it is never credited, and `reason` says why.
 */
import { type Static, Type } from 'typebox';

export const DEPOSIT_STATES = ['waiting', 'seen', 'confirming', 'credited', 'underpaid', 'expired', 'reorged'] as const;
export const PAYMENT_STATES = ['seen', 'confirming', 'credited', 'reversed', 'reorged', 'dropped', 'ignored'] as const;
export type DepositState = 'waiting' | 'seen' | 'confirming' | 'credited' | 'underpaid' | 'expired' | 'reorged';
export type PaymentState = (typeof PAYMENT_STATES)[number];

/** Why a payment is not credited. */
export const IGNORED: Readonly<Record<IgnoredReason, string>> = {
  wrong_token: 'The service does not accept this token, so the payment cannot be credited.',
  dust: 'The payment is smaller than the minimum, so it is not credited.',
  too_large: 'The payment exceeds the limit for automatic credit. Ask the support of the service to credit it.',
};
export type IgnoredReason = 'wrong_token' | 'dust' | 'too_large';

/**
 * Maximum of unpaid deposits for an account. Wallets stop looking for money after 20 unused addresses (the gap limit of
 * BIP 44), and a stranger must not be able to make such gaps without end.
 */
export const MAX_OPEN = 10;
/** Payments of tokens that are not taken, which anybody can send for nothing, are kept for a deposit up to so many. */
export const MAX_IGNORED = 20;

const Name = Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' });
const AssetName = Type.String({ pattern: '^[A-Z][A-Z0-9.]{0,15}$' });
const Units = Type.String({ pattern: '^(0|[1-9][0-9]{0,37})$' });
const Confirmations = Type.Integer({ minimum: 1, maximum: 1000 });
const Key = Type.String({ minLength: 1, maxLength: 200 });
const Url = Type.String({ minLength: 1, maxLength: 2048 });

const AssetSetting = Type.Object(
  {
    /** The traded symbol, e.g. ETH, which the rate source uses too. */
    asset: AssetName,
    decimals: Type.Integer({ minimum: 0, maximum: 24 }),
    /** The contract of an ERC-20 token; without it, the coin of the network. */
    contract: Type.Optional(Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })),
    /** In the smallest unit: what is less is not credited. */
    minimum: Type.Optional(Units),
  },
  { additionalProperties: false },
);
export type AssetSetting = Static<typeof AssetSetting>;

const EvmNetwork = Type.Object(
  {
    network: Name,
    kind: Type.Literal('evm'),
    chainId: Type.Integer({ minimum: 1 }),
    rpcUrl: Url,
    xpub: Key,
    confirmations: Confirmations,
    assets: Type.Array(AssetSetting, { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type EvmNetwork = Static<typeof EvmNetwork>;

const BtcNetwork = Type.Object(
  {
    network: Name,
    kind: Type.Literal('btc'),
    chain: Type.Union([Type.Literal('mainnet'), Type.Literal('testnet'), Type.Literal('regtest')]),
    esploraUrl: Url,
    xpub: Key,
    confirmations: Confirmations,
    /** In satoshi: what is less is not credited. */
    minimum: Type.Optional(Units),
  },
  { additionalProperties: false },
);
export type BtcNetwork = Static<typeof BtcNetwork>;

/** The setting LOOPSTREAM_CRYPTO_NETWORKS. */
export const NetworkSettings = Type.Array(Type.Union([EvmNetwork, BtcNetwork]), { minItems: 1, maxItems: 20 });

export type NetworkSetting = EvmNetwork | BtcNetwork;

const BITCOIN: AssetSetting = { asset: 'BTC', decimals: 8 };

/** How an address is looked for: EVM addresses differ by the case of their letters alone, which is a check. */
export const addressKey = (address: string): string => address.toLowerCase();

/** Lists the assets accepted on the network. */
export const listAssets = (network: NetworkSetting): readonly AssetSetting[] =>
  network.kind === 'evm' ? network.assets : [{ ...BITCOIN, ...(network.minimum && { minimum: network.minimum }) }];

/** The asset of a transfer on the network: undefined for a token that is not taken. `contract` in lower case. */
export const assetFor = (network: NetworkSetting, contract: string | undefined): AssetSetting | undefined =>
  listAssets(network).find((one) => one.contract?.toLowerCase() === contract);
