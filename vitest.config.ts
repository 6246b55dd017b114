import { defineConfig } from 'vitest/config';

/**
 * Three projects, from fast to slow. `unit` needs nothing but Node and ffmpeg; `system` starts real servers
 * (Postgres, etcd, kube-apiserver) a file at a time; `e2e` runs the whole product as a person would.
 */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/**/*.system.test.ts', 'test/e2e/**'], testTimeout: 60_000 } },
      { test: { name: 'system', include: ['test/**/*.system.test.ts'], testTimeout: 120_000, hookTimeout: 180_000, fileParallelism: false } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 600_000, fileParallelism: false } },
    ],
  },
});
