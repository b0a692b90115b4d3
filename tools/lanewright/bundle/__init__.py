"""What a run or a night left behind, in one archive to attach in public: nothing in it is private."""
