/** Builds the text of a deposit's QR code for wallets: EIP-681 and BIP 21. Pure: no I/O, no clock. */
import { formatUnits } from './amounts.ts';
import type { AssetSetting, NetworkSetting } from './spec.ts';

/** `amount` in the smallest unit; without it the wallet asks for one. */
export function paymentUri(network: NetworkSetting, asset: AssetSetting, address: string, amount?: bigint): string {
  if (network.kind === 'btc') {
    const more = amount === undefined ? '' : `?amount=${formatUnits(amount, asset.decimals)}`;
    return `bitcoin:${address}${more}`;
  }
  const chain = `@${network.chainId}`;
  if (asset.contract === undefined)
    return `ethereum:${address}${chain}${amount === undefined ? '' : `?value=${amount}`}`;
  const value = amount === undefined ? '' : `&uint256=${amount}`;
  return `ethereum:${asset.contract}${chain}/transfer?address=${address}${value}`;
}
