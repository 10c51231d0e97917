			max(blk_mq_default_nr_requests(set), type->min_requests));
