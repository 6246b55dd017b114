/** Declares the part of autocannon that benchmarks use; the package has no types. */
declare module 'autocannon' {
  interface Options {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    requests: { method: string; path: string; headers: Record<string, string>; body?: string }[];
  }
  interface Result {
    errors: number;
    non2xx: number;
    requests: { average: number };
    /** Milliseconds. */
    latency: { p50: number; p99: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
