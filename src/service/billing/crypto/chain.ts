/**
 * Declares the scanner's view of a chain. The answers of a node are not trusted: they are checked against its earlier
 * ones.
 */

export interface Header {
  height: number;
  hash: string;
  parentHash: string;
  /** The time that the block's maker wrote. */
  time: Date;
}

/** A transfer to one of our addresses. */
export interface Transfer {
  txid: string;
  /**
   * Identifies the transfer within its transaction: `value` for a coin of an EVM chain, the place of the log in the
   * receipt for a token, the number of the output for Bitcoin. It is never the place in the block, which a
   * reorganisation changes.
   */
  index: string;
  /** As `addressKey` has it. */
  to: string;
  /** The token's contract, in lower case; without it, the coin of the network. */
  contract?: string;
  amount: bigint;
}

export interface RecentTransfers extends Transfer {
  /** undefined: in no block yet. */
  block: Omit<Header, 'parentHash'> | undefined;
}

export interface ChainBlock extends Header {
  transfers: Transfer[];
}

export type WantedTransfer = Pick<Transfer, 'txid' | 'index' | 'amount'> & { contract: string | undefined };
export type FoundTransfer = { height: number; hash: string } | 'pending' | undefined;

export interface Chain {
  /** How high the node says that its chain is. */
  height(): Promise<number>;
  /** undefined when the node has no block of this height. */
  header(height: number): Promise<Header | undefined>;
  /**
   * Reads the blocks `from` to `to` for these addresses, in order and without gaps. It returns fewer blocks when the
   * node does not have all of them, or changed its mind meanwhile.
   */
  read(from: number, to: number, addresses: ReadonlySet<string>): Promise<ChainBlock[]>;
  /**
   * Finds the block that a transfer is in now; `pending` when its transaction is in none yet. Undefined when the node
   * does not know it, or the transaction no longer contains the transfer. Answers may be cached since the last
   * `height`.
   */
  find(transfer: WantedTransfer): Promise<FoundTransfer>;
  /**
   * Finds the latest transfers to these addresses that are in no block yet, where the node can be queried by address
   * alone. It also finds transfers that the node was still undecided about when their block was read.
   */
  recent?(addresses: ReadonlySet<string>): Promise<RecentTransfers[]>;
}

/** The node cannot be reached, or its answer is impossible. Its address, which may hold a key, is in no message. */
export class ChainError extends Error {
  override readonly name = 'ChainError';
}
