import { describe, expect, test, vi } from 'vitest';
import { SECRETS } from '../../../../../src/core/kube/core.ts';
import { type Kube, KubeError } from '../../../../../src/core/kube/types.ts';
import { createViewKeys } from '../../../../../src/core/operator/stream/view-keys.ts';
import { VIEW_KEY_KEY } from '../../../../../src/core/resources/common/names.ts';
import { createViewTokens } from '../../../../../src/service/domain/stats/view-tokens.ts';

/** A Kubernetes with at most one Secret, which counts requests. */
function kubernetes() {
  let data: Record<string, string> | undefined;
  const asked: string[] = [];
  const kube = {
    get: async (resource: unknown) => {
      expect(resource).toBe(SECRETS);
      asked.push('get');
      if (!data) throw new KubeError(404, 'NotFound', 'not found');
      return { data };
    },
    create: async (_resource: unknown, _namespace: string, { stringData }: { stringData: Record<string, string> }) => {
      asked.push('create');
      if (data) throw new KubeError(409, 'AlreadyExists', 'exists');
      data = Object.fromEntries(Object.entries(stringData).map(([key, text]) => [key, btoa(text)]));
    },
  } as unknown as Kube;
  return {
    kube: () => ({ ...kube }) as Kube,
    asked,
    key: () => (data ? atob(data[VIEW_KEY_KEY] ?? '') : undefined),
    forget: () => (data = undefined),
  };
}

describe('the token of viewers', () => {
  test('is the same for operator and API server, another one for each stream, and read once', async () => {
    const { kube, key, asked } = kubernetes();
    const operator = createViewKeys(kube());
    const token = await operator.findToken('ns', 'one');
    expect(await operator.findToken('ns', 'one')).toBe(token);
    expect(asked).toEqual(['get', 'create']);
    const tokens = createViewTokens(async () => key());
    expect(await tokens.find('one')).toBe(token);
    expect(await tokens.find('two')).not.toBe(token);
    // Another operator, and this one after a restart.
    expect(await createViewKeys(kube()).findToken('ns', 'one')).toBe(token);
  });

  test('is none where there is no key, and comes when it does', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      let key: string | undefined;
      let reads = 0;
      const tokens = createViewTokens(async () => {
        reads++;
        return key;
      });
      expect([await tokens.find('one'), await tokens.findAnew('one')]).toEqual([undefined, undefined]);
      key = 'made';
      expect([await tokens.find('one'), reads]).toEqual([undefined, 1]);
      vi.advanceTimersByTime(10_001);
      expect(await tokens.find('one')).toBeDefined();
      const before = await tokens.find('one');
      key = 'made anew';
      vi.advanceTimersByTime(10_001);
      expect(await tokens.find('one')).toBe(before);
      expect(await tokens.findAnew('one')).not.toBe(before);
    } finally {
      vi.useRealTimers();
    }
  });
});
