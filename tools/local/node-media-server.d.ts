/** Declares the part of node-media-server that the local receiver uses; the package ships no types. */
declare module 'node-media-server' {
  interface Options {
    bind: string;
    rtmp: { port: number };
    http: { port: number };
    static: { router: string; root: string };
    store: { path: string };
    webadmin: { enable: boolean };
    record?: { path: string; auto: boolean };
  }
  export default class NodeMediaServer {
    constructor(options: Options);
    run(): Promise<void>;
  }
}
