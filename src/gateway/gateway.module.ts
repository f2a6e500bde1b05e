import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { Pipeline } from './pipeline.js';
import { Journal } from './journal/journal.js';
import { ConfigPlans } from './planning/config-plans.js';
import { Planner } from './planning/planner.js';
import { Realtime } from './realtime/realtime.js';
import { Breakers } from './routing/breakers.js';
import { Dispatcher } from './routing/dispatcher.js';
import { Sender } from './upstream/sender.js';
import { Signers } from './upstream/signing/signers.js';

/** The data plane. It has no controller: the front server hands it requests, and sockets, as they come from the parser. */
@Module({
  imports: [AuthModule],
  providers: [Breakers, ConfigPlans, Dispatcher, Journal, Pipeline, Planner, Realtime, Sender, Signers],
  exports: [Pipeline, Realtime],
})
export class GatewayModule {}
