import { z } from 'zod';

const http = z.url({ protocol: /^https?$/, error: 'it must be an address such as https://host/path' });
/** Settings of external destinations: the bucket, and the sinks for stored requests. */
export const sinkSettings = {
  GATEHOUSE_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
    .optional()
    .describe('Bucket of an S3-compatible store, for bodies, exports and batches of the log.'),
  GATEHOUSE_S3_ENDPOINT: http
    .optional()
    .describe('Address of the store, reached in path style. Default: Amazon S3 of GATEHOUSE_S3_REGION.'),
  GATEHOUSE_S3_REGION: z.string().min(1).default('us-east-1').describe('Region of the bucket.'),
  GATEHOUSE_S3_ACCESS_KEY_ID: z.string().min(1).optional().describe('Access key of the bucket.'),
  GATEHOUSE_S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('Secret of the access key.'),
  GATEHOUSE_S3_PREFIX: z
    .string()
    .regex(/^([\w.-]+\/)*$/, 'must end in a slash')
    .default('gatehouse/')
    .describe('Prefix of all object keys.'),
  GATEHOUSE_SINK_S3: z
    .enum(['on', 'off'])
    .default('off')
    .describe('Whether request logs are also written to the bucket, as gzipped JSON Lines.'),
  GATEHOUSE_SINK_S3_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(60)
    .describe('Longest time that requests are collected for one object.'),
  GATEHOUSE_SINK_WEBHOOK_URL: http
    .optional()
    .describe('Webhook for request logs of all organizations, as JSON Lines.'),
  GATEHOUSE_SINK_WEBHOOK_SECRET: z
    .string()
    .min(16)
    .optional()
    .describe('Secret that signs these calls. Required with GATEHOUSE_SINK_WEBHOOK_URL.'),
};
