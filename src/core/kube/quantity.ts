/** Reads quantities as Kubernetes writes them (apimachinery's resource.Quantity). Pure: no I/O, no clock. */

const CPU = /^(\d+(?:\.\d+)?)(m?)$/;

/** Returns the processors of a quantity such as `4` or `3920m`; undefined when it is none. */
export function parseCpus(quantity: string | undefined): number | undefined {
  const [, digits, milli] = CPU.exec(quantity ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits) / (milli ? 1000 : 1);
}

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['k', 'M', 'G', 'T', 'P', 'E'];
const QUANTITY = /^(\d+(?:\.\d*)?|\.\d+)(?:([eE][+-]?\d+)|([KMGTPE]i|[kMGTPE]))?$/;

/** Bytes of a quantity such as `64Gi`, `1.5G`, `1e9` or 4096; undefined when the value is none. */
export function parseBytes(quantity: unknown): number | undefined {
  const match = QUANTITY.exec(String(quantity));
  if (!match) return undefined;
  const [, digits = '', exponent = '', suffix = ''] = match;
  const factor = suffix.endsWith('i') ? 1024 ** (BINARY.indexOf(suffix) + 1) : 1000 ** (DECIMAL.indexOf(suffix) + 1);
  return Math.ceil(Number(`${digits}${exponent}`) * (suffix === '' ? 1 : factor));
}
