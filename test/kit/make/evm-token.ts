/**
 * Assembles a token for tests as bytecode, which needs no compiler. It implements ERC-20's `transfer` and `balanceOf` without checking
 * funds: each transfer mints. `scatter(uint256,address…)`, whose addresses follow as plain words, sends the same amount to many addresses.
 */
import { encodeFunctionData, type Hex, numberToHex, pad, parseAbi, toEventSelector, toFunctionSelector } from 'viem';

const OPS: Readonly<Record<string, number>> = {
  ADD: 0x01,
  LT: 0x10,
  EQ: 0x14,
  ISZERO: 0x15,
  SHR: 0x1c,
  CALLER: 0x33,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CODECOPY: 0x39,
  POP: 0x50,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  DUP1: 0x80,
  DUP2: 0x81,
  LOG3: 0xa3,
  RETURN: 0xf3,
  REVERT: 0xfd,
};
const JUMPDEST = 0x5b;
const PUSH1 = 0x60;

/** Each word is an operation, `0x…` to push, `name:` for a jump target, or `@name` to push that target. */
function assemble(source: string): Uint8Array {
  const places = new Map<string, number>();
  const code: (number | { place: string; high: boolean })[] = [];
  for (const word of source.trim().split(/\s+/)) {
    const op = OPS[word];
    if (op !== undefined) code.push(op);
    else if (word.endsWith(':')) {
      places.set(word.slice(0, -1), code.length);
      code.push(JUMPDEST);
    } else if (word.startsWith('@')) {
      const place = word.slice(1);
      code.push(PUSH1 + 1, { place, high: true }, { place, high: false });
    } else if (/^0x([0-9a-f]{2})+$/i.test(word)) {
      const bytes = Buffer.from(word.slice(2), 'hex');
      code.push(PUSH1 + bytes.length - 1, ...bytes);
    } else throw new Error(`What is ${word}?`);
  }
  return Uint8Array.from(code, (byte) => {
    if (typeof byte === 'number') return byte;
    const at = places.get(byte.place);
    if (at === undefined) throw new Error(`There is no ${byte.place}.`);
    return byte.high ? at >> 8 : at & 0xff;
  });
}

const ABI = parseAbi(['function transfer(address, uint256)', 'function balanceOf(address) view returns (uint256)']);
const SCATTER = toFunctionSelector('scatter(uint256,address[])');

/** Takes an amount and an address from the stack, adds the amount to the address's balance, and emits the event. */
const CREDIT = `
  DUP2 DUP2 SLOAD ADD DUP2 SSTORE
  DUP2 0x00 MSTORE
  CALLER ${toEventSelector('Transfer(address,address,uint256)')} 0x20 0x00 LOG3
  POP`;

const RUNTIME = assemble(`
  0x00 CALLDATALOAD 0xe0 SHR
  DUP1 ${toFunctionSelector('transfer(address,uint256)')} EQ @transfer JUMPI
  DUP1 ${toFunctionSelector('balanceOf(address)')} EQ @balanceOf JUMPI
  DUP1 ${SCATTER} EQ @scatter JUMPI
  0x00 0x00 REVERT
  transfer: 0x24 CALLDATALOAD 0x04 CALLDATALOAD ${CREDIT} @yes JUMP
  balanceOf: 0x04 CALLDATALOAD SLOAD 0x00 MSTORE 0x20 0x00 RETURN
  scatter: 0x24
  next: CALLDATASIZE DUP2 LT ISZERO @yes JUMPI
    0x04 CALLDATALOAD DUP2 CALLDATALOAD ${CREDIT}
    0x20 ADD @next JUMP
  yes: 0x01 0x00 MSTORE 0x20 0x00 RETURN`);

const size = numberToHex(RUNTIME.length, { size: 2 });
/** The constructor: copies the code behind itself and returns it. */
const COPY = (offset: number) =>
  assemble(`${size} ${numberToHex(offset, { size: 2 })} 0x00 CODECOPY ${size} 0x00 RETURN`);
export const TOKEN_CODE: Hex = `0x${Buffer.concat([COPY(COPY(0).length), RUNTIME]).toString('hex')}`;

export const transferData = (to: string, amount: bigint): Hex =>
  encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [to as Hex, amount] });

export const scatterData = (amount: bigint, to: readonly string[]): Hex =>
  `${SCATTER}${[numberToHex(amount), ...(to as Hex[])].map((word) => pad(word).slice(2)).join('')}`;
