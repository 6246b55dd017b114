/** The examples that have to do with money, of the same day and account as the others (examples.ts). Pure: no I/O, no clock. */

interface Shared {
  stream: string;
  createdAt: string;
  /** A page with one item. */
  list: (item: object) => object;
}

/** Documents by the titles of their schemas, and parameters by their nouns and names. */
export function moneyExamples({ stream, createdAt, list }: Shared) {
  const Billing = {
    state: 'active',
    balanceCredits: '250000',
    availableCredits: '249700',
    creditsPerHour: '300',
    secondsLeft: 2_996_400,
    currency: 'USD',
    creditsPerMinorUnit: '100',
    paymentMethods: ['card', 'crypto'],
  };

  const Usage = {
    from: '2027-01-31',
    to: '2027-01-31',
    timeZone: 'Europe/Berlin',
    groupBy: 'day',
    credits: '300',
    onAirSeconds: 3600,
    lines: [{ day: '2027-01-31', streamID: null, credits: '300', onAirSeconds: 3600 }],
  };

  const LedgerEntry = {
    id: '8d1f6a52-3f0e-4b7e-9a55-0c7c1f7f2f60',
    number: 2,
    kind: 'charge',
    credits: '-300',
    balanceCredits: '249700',
    at: '2027-01-31T19:00:02Z',
    postedAt: '2027-01-31T19:00:05Z',
    streamID: stream,
    onAirSeconds: 3600,
    reference: null,
    reason: null,
  };

  const TopUp = {
    ...{ id: 'top-01k8zq5w9j4p1y6e0d8c2s3v5x', state: 'open', amountMinor: '2500', currency: 'USD' },
    ...{ paidMinor: '0', refundedMinor: '0', checkoutUrl: 'https://checkout.stripe.com/c/pay/cs_live_a1b2c3' },
    ...{ createdAt, expiresAt: '2027-02-01T05:42:05Z' },
  };

  const CryptoAsset = {
    ...{ asset: 'USDC', network: 'ethereum', contract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', decimals: 6 },
    ...{ minimumAmount: '1000000', confirmations: 12, rate: '1', currency: 'USD' },
  };

  const CryptoDeposit = {
    ...{ id: 'dep-01k8zq6x9k4n1z5d7e8p0q2r3t', asset: 'USDC', network: 'ethereum', decimals: 6, state: 'confirming' },
    ...{ confirmations: 3, neededConfirmations: 12, address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94' },
    paymentUri:
      'ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@1/transfer?address=0x9858EfFD232B4033E47d90003D41EC34EcaEda94&uint256=25000000',
    ...{ amount: '25000000', receivedAmount: '0' },
    quote: { rate: '1', currency: 'USD', credits: '250000', expiresAt: '2027-01-31T17:57:05Z' },
    ...{ expiresAt: '2027-01-31T17:57:05Z', credits: '0', explanation: null },
    payments: [
      {
        ...{ txid: '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060', index: '0' },
        ...{ network: 'ethereum', asset: 'USDC', contract: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48' },
        ...{
          amount: '25000000',
          state: 'confirming',
          confirmations: 3,
          credits: null,
          explanation: null,
          at: createdAt,
        },
      },
    ],
    createdAt,
  };

  const InvoiceSummary = {
    ...{ id: 'inv-01k9b3c7d2e5f8g1h4j6k9m2n5', kind: 'invoice', number: 'LS-2027-00042', issuedOn: '2027-02-01' },
    ...{ periodFrom: '2027-01-01', periodTo: '2027-01-31', currency: 'EUR', totalCredits: '930000' },
    ...{ netMinor: '7815', totalMinor: '9300', correctsNumber: null, correctsID: null },
    createdAt: '2027-02-01T02:00:07Z',
  };
  const Seller = {
    ...{ name: 'Loops Ltd', address: ['12 Harbour Street', 'Dublin', 'Ireland'], country: 'IE', taxID: 'IE1234567X' },
    email: 'billing@loops.example',
  };
  const Invoice = {
    ...InvoiceSummary,
    lines: [
      {
        ...{
          streamID: stream,
          name: 'Night fireplace',
          profile: '1080p30',
          seconds: '2678400',
          creditsPerHour: '1250',
        },
        ...{ credits: '930000', amountMinor: '9300' },
      },
    ],
    ...{ roundingMinor: '0', taxes: [{ name: 'VAT', ratePercent: '19', amountMinor: '1485' }], reason: null },
    ...{ seller: Seller, buyer: { name: 'Ada', address: [], country: null, taxID: null, email: 'ada@example.com' } },
    notes: ['Paid from the prepaid balance of the account. Nothing is due.'],
  };

  const documents = {
    TopUp,
    Billing,
    Usage,
    UsageCsv: 'day,credits,onAirSeconds\r\n2027-01-31,300,3600\r\n',
    LedgerEntryList: list(LedgerEntry),
    TopUpList: list(TopUp),
    CryptoAssetList: { data: [CryptoAsset] },
    CryptoDeposit,
    CryptoDepositList: list(CryptoDeposit),
    CryptoDepositCreate: { asset: 'USDC', network: 'ethereum', amount: '25000000' },
    TopUpCreate: { amountMinor: '2500', currency: 'USD' },
    WebhookReceived: { received: true },
    Invoice,
    InvoiceList: list(InvoiceSummary),
    BillingAddressUpdate: { city: 'Lyon', postalCode: '69001' },
    BillingAddress: {
      name: 'Ada Films SARL',
      line1: '8 rue du Port',
      postalCode: '75008',
      city: 'Paris',
      country: 'FR',
    },
  };
  const parameters = {
    'top-ups id': TopUp.id,
    'invoices id': InvoiceSummary.id,
    'deposits id': CryptoDeposit.id,
  };
  return { documents, parameters, entry: LedgerEntry };
}
