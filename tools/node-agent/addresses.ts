/** Assigns each pod an address of its own, from a range that the loopback interface answers to. */
import { isIPv4 } from 'node:net';

const toNumber = (ip: string): number => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toText = (ip: number): string => [24, 16, 8, 0].map((shift) => (ip >>> shift) & 255).join('.');

export class Addresses {
  readonly #first: number;
  readonly #count: number;
  readonly #byOwner = new Map<string, string>();
  readonly #taken = new Set<string>();
  #next = 0;

  /** `cidr` like 127.16.0.0/16. Throws when it is not a range of IPv4. */
  constructor(cidr: string) {
    const [base = '', bits = ''] = cidr.split('/');
    const prefix = Number(bits);
    if (!isIPv4(base) || bits === '' || !(prefix >= 8 && prefix <= 30))
      throw new Error(`"${cidr}" is not a range like 127.16.0.0/16.`);
    const size = 2 ** (32 - prefix);
    // Neither the address of the network itself nor its broadcast address.
    this.#first = Math.floor(toNumber(base) / size) * size + 1;
    this.#count = size - 2;
  }

  /**
   * Returns the owner's address: its current one, else `wanted` (from before a restart of the agent) when that is free,
   * else the next in turn. So an address that was given back rests for as long as possible.
   */
  claim(owner: string, wanted?: string): string {
    const has = this.#byOwner.get(owner);
    if (has) return has;
    const address = wanted && this.#isFree(wanted) ? wanted : this.#nextFree();
    this.#byOwner.set(owner, address);
    this.#taken.add(address);
    return address;
  }

  release(owner: string): void {
    const address = this.#byOwner.get(owner);
    if (address) this.#taken.delete(address);
    this.#byOwner.delete(owner);
  }

  #isFree(address: string): boolean {
    const offset = isIPv4(address) ? toNumber(address) - this.#first : -1;
    return offset >= 0 && offset < this.#count && !this.#taken.has(address);
  }

  #nextFree(): string {
    for (let tried = 0; tried < this.#count; tried++) {
      const address = toText(this.#first + this.#next);
      this.#next = (this.#next + 1) % this.#count;
      if (!this.#taken.has(address)) return address;
    }
    throw new Error('No address is left for another pod.');
  }
}
