/**
 * Tests deposits from the API to the ledger: the API gives an address, the role billing reads a real chain, and the balance shows the
 * credit.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import type { CryptoDeposit } from '../../../src/service/billing/crypto/record.ts';
import { runBilling } from '../../../src/service/billing/main.ts';
import { billingConfig } from '../../../src/service/billing/setup/settings.ts';
import { apiConfig } from '../../../src/service/server/setup/settings.ts';
import { CRYPTO_SETTINGS, ETHEREUM } from '../../kit/make/crypto-settings.ts';
import { startAnvil, whyNoAnvil } from '../../kit/real/anvil.ts';
import { silent } from '../../kit/real/kube.ts';
import { startTestApi } from '../../kit/system/api.ts';

const ETH = 10n ** 18n;

const whyNot = whyNoAnvil();
describe.skipIf(whyNot)(`with an EVM node${whyNot ? ` (${whyNot})` : ''}`, () => {
  test('the next scanner finds a payment made without a scanner, and credits the account that asked', async () => {
    const anvil = await startAnvil();
    onTestFinished(() => anvil.stop());
    await anvil.mine();
    const networks = [{ ...ETHEREUM, chainId: anvil.chainId, rpcUrl: anvil.url }];
    const crypto = { ...CRYPTO_SETTINGS, LOOPSTREAM_CRYPTO_NETWORKS: JSON.stringify(networks) };
    const required = { LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_AUTH_SECRET: 'none' };
    const api = await startTestApi({ billing: true, crypto: apiConfig({ ...required, ...crypto }).crypto });
    onTestFinished(() => api.stop());
    const scan = async () => {
      const lifecycle = new Lifecycle();
      const settings = { ...api.environment, ...crypto, KUBECONFIG: api.kubernetes.kubeconfig };
      const { ready, opsUrl } = await runBilling(billingConfig(settings), lifecycle, silent);
      await ready;
      return { stop: () => lifecycle.stop(), metrics: async () => (await fetch(`${opsUrl}/metrics`)).text() };
    };
    const { call } = await api.client('payer');
    const wish = { asset: 'ETH', network: 'ethereum', amount: String(ETH) };
    expect((await call('POST', '/v1/crypto/deposits', wish)).body.code).toBe('crypto_unavailable');

    const first = await scan();
    onTestFinished(first.stop);
    const createDeposit = () => call<CryptoDeposit>('POST', '/v1/crypto/deposits', wish);
    await expect.poll(async () => (await createDeposit()).status).toBe(201);
    const { body: deposit } = await createDeposit();
    await first.stop();

    await anvil.send(deposit.address, ETH);
    await anvil.mine(3);
    const second = await scan();
    onTestFinished(second.stop);
    const now = async () => (await call<CryptoDeposit>('GET', `/v1/crypto/deposits/${deposit.id}`)).body;
    await expect.poll(async () => (await now()).state).toBe('credited');
    expect((await call('GET', '/v1/billing')).body).toMatchObject({ balanceCredits: '30000000' });
    expect(await second.metrics()).toContain('crypto_payments_total{network="ethereum",result="credited"} 1');
  });
});
