/** Exposes the numbers of the connections to Postgres to Prometheus. */
import type pg from 'pg';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Shows each pool under its name. */
export function poolMetrics(registry: Registry, pools: Readonly<Record<string, pg.Pool>>): void {
  const named = Object.entries(pools);
  const gauge = (
    name: string,
    help: string,
    labels: string[],
    read: (pool: pg.Pool) => [labels: Record<string, string>, value: number][],
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool', ...labels],
      registers: [registry],
      collect() {
        for (const [pool, source] of named)
          for (const [more, value] of read(source)) this.set({ pool, ...more }, value);
      },
    });
  gauge('db_pool_connections', 'Connections to Postgres.', ['state'], (pool) => [
    [{ state: 'used' }, pool.totalCount - pool.idleCount],
    [{ state: 'idle' }, pool.idleCount],
  ]);
  gauge('db_pool_max_connections', 'Maximum of connections to Postgres.', [], (pool) => [[{}, pool.options.max]]);
  gauge('db_pool_waiting', 'Queries that wait for a connection to Postgres.', [], (pool) => [[{}, pool.waitingCount]]);
  const use = new Histogram({
    name: 'db_pool_use_seconds',
    help: 'Time that a query or a transaction uses a connection to Postgres.',
    labelNames: ['pool'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const errors = new Counter({
    name: 'db_pool_errors_total',
    help: 'Connections to Postgres that broke.',
    labelNames: ['pool'],
    registers: [registry],
  });
  for (const [pool, source] of named) {
    const since = new WeakMap<pg.PoolClient, number>();
    errors.inc({ pool }, 0);
    source.on('error', () => errors.inc({ pool }));
    source.on('acquire', (client) => since.set(client, performance.now()));
    source.on('release', (error, client) => {
      const before = since.get(client);
      if (before !== undefined) use.observe({ pool }, (performance.now() - before) / 1000);
      if (error) errors.inc({ pool });
    });
  }
}
