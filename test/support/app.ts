/**
 * The product as `make run` and the image start it: bundled. Whoever starts a role depends on all that roles are made of, which
 * a path does not tell those who follow imports (`make test`, for what a change affects). So here is one, that is never called.
 */
export { MAIN, ROOT } from './bundle.ts';

void (() => import('../../src/main.ts'));
