/** Ids and times that the examples of all documents share: a day in the life of one account. Pure: no I/O, no clock. */
export const EXAMPLE = {
  stream: 'str-01k8zq4v7h2m9x3c5b6n7p8r9t',
  destination: 'dst-01k8zq3t5f0j7v1a3z4k5m6n7p',
  upload: 'upl-01k8zq2r3d8g5s9y1x2h3j4k5m',
  posterUrl: '/v1/uploads/upl-01k8zq2r3d8g5s9y1x2h3j4k5m/poster?v=3f9a1c0b52de',
  playlist: 'pls-01k8zq1p1b6e3q7w9v0f1g2h3j',
  scene: 'scn-01k8zq0n9a5d2p6v8t7e0f1g2h',
  createdAt: '2027-01-31T17:42:05Z',
  since: '2027-01-31T18:00:02Z',
} as const;
