/** The contract, which test/contract holds our API server to with a stand-in for the operator, of the product as a whole. */
import { afterAll, beforeAll, describe } from 'vitest';
import { graphqlSuite } from '../contract/graphql.ts';
import { restSuite } from '../contract/rest.ts';
import { productPlace } from '../support/contract.ts';
import { type System, startSystem } from '../support/system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem(['--no-demo']);
});
afterAll(() => system?.close());

const product = productPlace(() => system);

describe('REST', () => restSuite(product));
describe('GraphQL', () => graphqlSuite(product));
