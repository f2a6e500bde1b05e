import type { Endpoint } from '../../endpoint.js';
import { mediaUsage } from '../media.js';
import { realtimeUsage } from '../realtime.js';
import { get, openAiClient, post } from './operation.js';

/** Images and audio. Uploads are forms, whose files stream through. */
export const mediaEndpoints: readonly Endpoint[] = [
  {
    id: 'image-generations',
    title: 'image generations',
    operations: [post('/images/generations')],
    body: 'json',
    usage: mediaUsage,
    usageInStreams: 'always',
    source: openAiClient('images.ts'),
  },
  {
    id: 'image-edits',
    title: 'image edits',
    operations: [post('/images/edits')],
    body: 'form',
    usage: mediaUsage,
    usageInStreams: 'always',
    source: openAiClient('images.ts'),
  },
  {
    id: 'image-variations',
    title: 'image variations',
    operations: [post('/images/variations')],
    body: 'form',
    usage: null,
    usageInStreams: 'always',
    source: openAiClient('images.ts'),
  },
  {
    id: 'speech',
    title: 'speech',
    operations: [post('/audio/speech')],
    body: 'json',
    // Reported only in an event stream (`stream_format: "sse"`), in its last event `speech.audio.done`.
    usage: mediaUsage,
    usageInStreams: 'always',
    source: openAiClient('audio/speech.ts'),
  },
  {
    id: 'transcriptions',
    title: 'transcriptions',
    operations: [post('/audio/transcriptions')],
    body: 'form',
    usage: mediaUsage,
    usageInStreams: 'always',
    source: openAiClient('audio/transcriptions.ts'),
  },
  {
    id: 'translations',
    title: 'translations of speech',
    operations: [post('/audio/translations')],
    body: 'form',
    usage: mediaUsage,
    usageInStreams: 'always',
    source: openAiClient('audio/translations.ts'),
  },
  {
    id: 'realtime',
    title: 'realtime calls and secrets',
    operations: [
      post('/realtime/client_secrets'),
      post('/realtime/sessions'),
      post('/realtime/transcription_sessions'),
      post('/realtime/calls'),
      ...['accept', 'hangup', 'refer', 'reject'].map((verb) => post(`/realtime/calls/{id}/${verb}`)),
    ],
    body: 'opaque',
    usage: null,
    usageInStreams: 'always',
    source: openAiClient('realtime/calls.ts'),
  },
  {
    id: 'realtime',
    title: 'realtime',
    // A WebSocket: it begins as a GET with an upgrade.
    operations: [get('/realtime')],
    body: 'opaque',
    usage: realtimeUsage,
    usageInStreams: 'always',
    source: openAiClient('realtime/realtime.ts'),
  },
];
