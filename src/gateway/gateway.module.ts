import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { HttpCaller } from './guardrails/calling/http-caller.js';
import { ProviderCaller } from './guardrails/calling/provider-caller.js';
import { Guardrails } from './guardrails/guardrails.js';
import { Pipeline } from './pipeline.js';
import { Planner } from './planning/planner.js';
import { Sender } from './upstream/sender.js';
import { Signers } from './upstream/signing/signers.js';

/** The data plane. It has no controller: the front server hands it requests as they come from the parser. */
@Module({
  imports: [AuthModule],
  providers: [Guardrails, HttpCaller, Pipeline, Planner, ProviderCaller, Sender, Signers],
  exports: [Pipeline],
})
export class GatewayModule {}
